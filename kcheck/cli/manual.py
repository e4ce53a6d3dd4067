"""`kcheck manual`: writes man pages and shell completion files."""

from typing import Annotated

import typer


def manual(
    directory: Annotated[
        str,
        typer.Argument(metavar="DIR", help="A new or empty directory, such as /opt/kcheck/share.", show_default=False),
    ],
) -> None:
    """Write man pages, and completion for bash, zsh and fish, below a directory."""
    from kcheck.cli import completions, man_pages
    from kcheck.disk.new_files import write_tree

    files = {**man_pages.pages(), **completions.files()}
    write_tree(directory, {path: text.encode() for path, text in files.items()})
    print(f"{len(files)} files written below {directory}")
