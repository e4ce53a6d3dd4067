"""The building blocks of text on a terminal.

- `options`: how wide is the screen, and does it have colors?
- `printable`: how is a character shown that could control the terminal?
- `page`: how are lines, columns and findings laid out?
- `characters`: how are thousands of lines made at once?
"""
