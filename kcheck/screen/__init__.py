"""The building blocks of text on a terminal.

- `options`: How wide is the screen, and does it have colors?
- `page`: How are lines, columns and findings laid out?
- `printable`: How is a character shown that could control the terminal?
- `characters`: How are thousands of lines made at once?
"""
