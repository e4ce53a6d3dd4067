"""The head and the foot of a page. It may load or run only its own style and script."""

import base64
import hashlib

from kcheck import __version__
from kcheck.renderers._html.parts import Html, text


def head(title: Html, style: str, script: str) -> Html:
    """Return the page up to its body."""
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">\n'
        f'<link rel="icon" href="data:,">\n<title>{title}</title>\n'
        f"<style>{style}</style></head>\n<body>\n"
    )


def foot(source: Html, script: str) -> Html:
    """Return the end of the page after its main part; `source` names its input."""
    return (
        f"</main>\n<footer><p>Written by kcheck {text(__version__)}{source}."
        f" This page loads nothing from the network.</p></footer>\n<script>{script}</script>\n</body></html>\n"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
