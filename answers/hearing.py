"""What the events of one answer said, put together: for callers that want the whole and not the stream."""

from __future__ import annotations

from typing import Any

from answers.events import AnswerEvent, EventName


class Heard:
    """Hears the events of one answer in their order, and then says what came of it."""

    def __init__(self) -> None:
        self._said: dict[EventName, dict[str, Any]] = {}
        self._text: list[str] = []

    def hear(self, event: AnswerEvent) -> None:
        """Take the next event in."""
        if event.name == EventName.DELTA:
            self._text.append(event.data["text"])
        else:
            self._said[event.name] = event.data

    @property
    def error(self) -> dict[str, Any]:
        """What broke; empty when nothing did."""
        return self._said.get(EventName.ERROR, {})

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The numbered sources."""
        found: list[dict[str, Any]] = self._said.get(EventName.RETRIEVAL_DONE, {}).get("sources", [])
        return found

    @property
    def cited(self) -> set[int]:
        """The numbers that the text points at."""
        return set(self._said.get(EventName.CITATIONS, {}).get("cited", []))

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of `retrieve` and the answer's own."""
        begun = self._said[EventName.RETRIEVAL_STARTED]
        writing = self._said.get(EventName.GENERATION_STARTED, begun)
        checked = self._said.get(EventName.CITATIONS, {})
        ended = self._said.get(EventName.DONE) or self.error
        marks = checked.get("citations", [])
        return {
            **self._said.get(EventName.RETRIEVAL_DONE, {}).get("retrieval", {}),
            "answer_id": begun["answer"],
            "question": begun["question"],
            "answer": "".join(self._text),
            "answered": ended.get("answered", False),
            "state": ended["state"],
            "finish": ended["finish"],
            "engine": writing["engine"],
            "model": writing["model"],
            "citations": [
                {
                    **source,
                    "marks": [[m["start"], m["end"]] for m in marks if source["number"] in m["numbers"]],
                }
                for source in self.sources
                if source["number"] in self.cited
            ],
            "findings": checked.get("findings", []),
            "compression": self._said.get(EventName.COMPRESSION_DONE),
            "withheld": writing.get("withheld", []),
            "tokens": ended.get("tokens", {"prompt": None, "completion": None}),
            "timings": ended.get("timings", {}),
            "error": {name: self.error[name] for name in ("code", "message", "offer")}
            if self.error
            else None,
        }
