"""A message is its English text, and keeps what another language needs."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

from hiperplano.errors import InvalidData, NotSeparable, SingularWarning
from hiperplano.messages import Message, catalogue, message_of, translate
from hiperplano.messages.catalogue import use_language

SPANISH = {
    "Solved by {method} in {n} passes.": "Resuelto en {n} pasadas por {method}.",
    "Newton's method": "el método de Newton",
    "{gap:.1e} is left": "quedan {gap:.1e}",
    "{first}, {second}": "{first}, {second}",
}


@pytest.fixture
def spanish(monkeypatch):
    monkeypatch.setattr("hiperplano.messages.translation.lookup", lambda domain, text: SPANISH.get(text, ""))


def found():
    return Message("Solved by {method} in {n} passes.", method=Message("Newton's method"), n=3)


def test_it_is_the_english_text():
    assert found() == "Solved by Newton's method in 3 passes."
    assert found().fields == {"method": "Newton's method", "n": 3}
    assert Message("set {a}") == "set {a}"  # nothing to fill in


@pytest.mark.usefixtures("spanish")
def test_nested_messages_are_translated():
    assert translate(found()) == "Resuelto en 3 pasadas por el método de Newton."
    both = Message("{first}, {second}", first=found(), second=Message("{gap:.1e} is left", gap=0.012))
    assert translate(both) == "Resuelto en 3 pasadas por el método de Newton., quedan 1.2e-02"


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    "joined",
    [
        "LinearSVC: " + found() + " Good.",
        Message.concatenate("", ["LinearSVC: ", found(), " Good."]),
        Message.concatenate(" ", ["LinearSVC:", found(), "Good."]),
    ],
)
def test_joined_messages_are_translated_each_by_itself(joined):
    assert joined == "LinearSVC: Solved by Newton's method in 3 passes. Good."
    assert translate(joined) == "LinearSVC: Resuelto en 3 pasadas por el método de Newton. Good."


@pytest.mark.usefixtures("spanish")
def test_unknown_sentences_stay_english_as_a_whole():
    assert translate(Message("{method} failed", method=Message("Newton's method"))) == "Newton's method failed"
    assert translate("plain text") == "plain text"


@pytest.mark.usefixtures("spanish")
@pytest.mark.parametrize(
    "again",
    [
        copy.deepcopy,
        lambda message: pickle.loads(pickle.dumps(message)),
        lambda message: Message.from_plain(message.to_plain()),
    ],
)
def test_copies_keep_their_fields(again):
    for message in (found(), "LinearSVC: " + found()):
        other = again(message)
        assert other == message
        assert type(other) is Message
        assert (other.template, other.fields, other.parts) == (message.template, message.fields, message.parts)
        assert translate(other) == translate(message)


@pytest.mark.usefixtures("spanish")
def test_errors_and_warnings_keep_their_message():
    error = pickle.loads(pickle.dumps(InvalidData(found())))
    assert str(error) == found()
    assert translate(error) == translate(found())
    assert translate(pickle.loads(pickle.dumps(NotSeparable(found(), None)))) == translate(found())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(found(), SingularWarning, stacklevel=1)
    assert translate(message_of(caught[0].message)) == translate(found())
    assert translate(ValueError("of another library")) == "of another library"
    assert translate(ValueError()) == ""


def test_objects_are_kept_as_they_are_shown():
    def own():
        """Cannot be pickled."""

    message = Message("{f!r} and {x!r} and {n:,} and {a}", f=own, x=[1, "a"], n=np.int64(12345), a=np.arange(2))
    assert message == f"{own!r} and [1, 'a'] and 12,345 and [0 1]"
    assert pickle.loads(pickle.dumps(message)) == message
    assert message.template.format(**message.fields) == message


def test_a_file_does_not_choose_what_is_formatted():
    made = Message.from_plain(["text", "{n:1000000000}", {"n": 1}, []])
    with use_language("es"):
        assert translate(made) == "text"


def test_nothing_stays_nothing():
    with use_language("es"):
        assert translate(Message("")) == ""
        assert translate(Message.concatenate(", ", [])) == ""


def test_english_needs_no_catalogue():
    assert catalogue.lookup("messages", "anything") == ""
    assert translate(found()) == found()
