"""What docstrings say of functions and their arguments."""

from __future__ import annotations

import inspect

import pytest

from brain.tools.docstrings import read_docstring

GOOGLE = """Fetch a page.

    It may take a while.

    Args:
        title (str): Title of the book.
        shelf (tuple(int, str), optional): Shelf code: "B:12"
            or "C3".
        *rest: more of them
        plain:
            On a line of its own.

    Returns:
        str: the text
    """

NUMPY = """Fetch a page.

    It may take a while.

    Parameters
    ----------
    title : str
        Title of the book.
    shelf : {"B:12", "C3"}, optional
        Shelf code: "B:12"
        or "C3".
    *rest
        more of them
    plain
        On a line of its own.

    Returns
    -------
    str
        the text
    """

SPHINX = """Fetch a page.

    It may take a while.

    :param str title: Title of the book.
    :type shelf: str
    :param shelf: Shelf code: "B:12"
        or "C3".
    :param rest: more of them
    :param plain: On a line of its own.
    :raises ValueError: never
    :returns: the text
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_three_styles_say_the_same(text: str) -> None:
    """The description ends where the sections begin; each argument has its text on one line."""
    assert read_docstring(inspect.cleandoc(text)) == (
        "Fetch a page.\n\nIt may take a while.",
        {
            "title": "Title of the book.",
            "shelf": 'Shelf code: "B:12" or "C3".',
            "rest": "more of them",
            "plain": "On a line of its own.",
        },
    )


@pytest.mark.parametrize(
    ("text", "description", "arguments"),
    [
        (None, "", {}),
        ("", "", {}),
        ("One line.", "One line.", {}),
        ("Args: are not a section here.", "Args: are not a section here.", {}),
        ("Look.\n\nArgs:\n    a, b: two", "Look.", {}),
        ("Look.\n\nArguments:\n  a: one\n  b: two", "Look.", {"a": "one", "b": "two"}),
        ("Look.\n\nArgs:\n    a: one\n\nThen leave.", "Look.\n\nThen leave.", {"a": "one"}),
        ("Look.\n\nParameters\n----------\na, b : int\n    Both.", "Look.", {"a": "Both.", "b": "Both."}),
        ("Look.\n\nExample:\n    a: not an argument", "Look.", {}),
        ("Args:\n    a: one", "", {"a": "one"}),
        ("天气。\n\nArgs:\n    城市: 名", "天气。", {"城市": "名"}),
    ],
    ids=str,
)
def test_what_a_docstring_says(text: str | None, description: str, arguments: dict[str, str]) -> None:
    """Odd forms are read as far as they are clear."""
    assert read_docstring(text) == (description, arguments)


def test_a_long_docstring_takes_no_long_time() -> None:
    """Whatever it is made of."""
    for line in ("    a: b", "    (((((", "Args:", ":param a: b", "----", "a (" * 100):
        read_docstring("Args:\n" + f"{line}\n" * 5_000)
