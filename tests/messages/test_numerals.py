"""Numbers in the signs of the language."""

import pytest

from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator, use_language
from hiperplano.messages.numerals import localise
from hiperplano.report.number_format import count, decimal, odds, percent, significant


@pytest.mark.parametrize(
    ("python", "spanish"),
    [
        ("0.5", "0,5"),
        ("2008", "2008"),
        ("2,100", "2100"),
        ("−2,100.25", "−2100,25"),
        ("12,345", "12\u202f345"),
        ("1,234,567.8", "1\u202f234\u202f567,8"),
        ("1.2e-05", "1,2e-05"),
        ("<0.0001", "<0,0001"),
    ],
)
def test_spanish_has_a_decimal_comma_and_spaces_from_five_digits_on(python, spanish):
    assert localise(python, "es") == spanish
    assert localise(python, "en") == python


def test_tables_have_the_signs_of_the_language():
    shown = [count(12345), decimal(1234.5, 1), significant(-98765.4), significant(2008), percent(0.125), odds(1.00012)]
    with use_language("es"):
        local = [count(12345), decimal(1234.5, 1), significant(-98765.4), significant(2008), percent(0.125)]
        local.append(odds(1.00012))
    assert [each.text for each in shown] == ["12,345", "1,234.5", "−98,765", "2008", "12.5%", "1.00012"]
    assert [each.text for each in local] == ["12\u202f345", "1234,5", "−98\u202f765", "2008", "12,5%", "1,00012"]
    assert [each.exact for each in shown] == [each.exact for each in local]


def test_sentences_have_them_too_but_for_values_of_python():
    note = Message(
        "{parameter} = {value:g} was chosen by cross-validation on the training rows", parameter="C", value=0.5
    )
    inner = Message("{name} outside {low} – {high}", name="x", low=Message.number(0.5, ".6g"), high=0.25)
    with use_language("es"):
        assert translate(note).startswith("C = 0,5 ")
        assert "0,5 – 0.25" in translate(inner)
        assert translator("terminal")("{n:,} rows scored: {file}", n=1234567, file="a.csv").startswith(
            "1\u202f234\u202f567 "
        )
    assert "0.5 – 0.25" in inner


def test_a_template_from_a_file_is_not_filled_in():
    wide = Message.from_plain(["x", "{value:>99999999}", {"value": 1}, []])
    with use_language("es"):
        assert translate(wide) == "x"
