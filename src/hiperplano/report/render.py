"""Rendering of blocks to HTML: templates, style and script in one file."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from hiperplano import __version__
from hiperplano.errors import NotAvailable
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Page
from hiperplano.report.charts.svg import Markup

_ = translator("report")


def render(page: Page) -> str:
    """The whole file."""
    script = _text("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    return str(
        template.render(
            page=page, style=Markup(_text("style.css")), script=Markup(script), digest=digest, version=__version__
        )
    )


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as problem:
        raise NotAvailable(
            "write_report needs jinja2, which is not installed. Install it with: pip install 'hiperplano[app]'."
        ) from problem
    made = Environment(
        loader=PackageLoader("hiperplano.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["_"] = _
    made.filters["json"] = _json
    return made


def _json(data: Any) -> Markup:
    """JSON that cannot close the element it is in."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


@cache
def _text(name: str) -> str:
    return (files("hiperplano.report") / "templates" / name).read_text(encoding="utf-8")
