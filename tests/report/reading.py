"""A page as a tree, read with the standard library's parser: what is there, under what, with what text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass
class Node:
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def walk(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, name: str, **attributes: str) -> list[Node]:
        wanted = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
        return [
            node
            for node in self.walk()
            if node.name == name and all(node.attributes.get(key) == value for key, value in wanted.items())
        ]

    def one(self, name: str, **attributes: str) -> Node:
        (found,) = self.all(name, **attributes)
        return found

    def table(self, name: str) -> dict[str, list[Node]]:
        """The cells of each row of a table, by the row's name."""
        body = self.one("table", id=f"table-{name}").one("tbody")
        return {row.one("th").text: row.all("td") for row in body.all("tr")}

    @property
    def number(self) -> float:
        return float(self.one("data").attributes["value"])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("document")]

    def handle_starttag(self, tag, attrs):
        node = Node(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Node(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag):
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def read(page: Path | str) -> Node:
    """The tree of a page; every element must be closed where it was opened."""
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8") if isinstance(page, Path) else page)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].name}> is never closed"
    return reader.open[0]
