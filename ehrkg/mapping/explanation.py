"""How one code came to its concepts: every method tried, and what it gave."""

from __future__ import annotations

from dataclasses import dataclass

from ehrkg.foundation.embedding import Embedder
from ehrkg.mapping import NEAR, mapper
from ehrkg.mapping.links import Link, best
from ehrkg.mapping.mapper import Attempt, Code
from ehrkg.mapping.overrides import Overrides
from ehrkg.ontology.schema import Knowledge

SHOWN = 5
"""Links a method that are written out; the rest are counted."""


@dataclass(frozen=True)
class MappingExplanation:
    """What each method gave for a code.

    Attributes:
        code: the Code.
        attempts: every method in its order.
        links: those that were kept.
        names: of the concepts.
    """

    code: Code
    attempts: tuple[Attempt, ...]
    links: tuple[Link, ...]
    names: dict[str, str]

    def as_text(self) -> str:
        """A few lines a person can read."""
        title = f"{self.code.id}" + (f"  {self.code.name}" if self.code.name else "")
        lines = [f"{title} ({self.code.kind})"]
        for attempt in self.attempts:
            note = "" if attempt.needed else ", not needed"
            lines.append(f"  {attempt.method}: {len(attempt.links) or 'nothing'}{note}")
            ordered = sorted(attempt.links, key=lambda link: (link.levels, -link.confidence, link))
            lines += [f"    {self._line(link)}" for link in ordered[:SHOWN]]
            if len(ordered) > SHOWN:
                lines.append(f"    and {len(ordered) - SHOWN} more")
        lines.append("kept:" if self.links else "kept: nothing, the code is unlinked")
        lines += [f"  {self._line(link)}" for link in self.links]
        return "\n".join(lines)

    def _line(self, link: Link) -> str:
        how = {0: "exact", 1: "near"}.get(link.levels, f"{link.levels} levels up")
        return (
            f"{link.concept} {self.names.get(link.concept, '')} "
            f"({how}, {link.predicate}, {link.method}, {link.confidence:.2f}): {link.explanation}"
        )

    def __str__(self) -> str:
        return self.as_text()


def explain_mapping(
    code: str,
    knowledge: Knowledge,
    *,
    kind: str = "diagnosis",
    name: str = "",
    overrides: Overrides | None = None,
    embedder: Embedder | None = None,
) -> MappingExplanation:
    """Run every method on one code, needed or not.

    Args:
        code: a Code id.
        knowledge: with the trees of the code (``ontology.for_codes``).
        kind: diagnosis, drug or procedure.
        name: as the hospital has it.
        overrides: a user's own mapping.
        embedder: for the last resort, which is left out without one.
    """
    asked = Code(code, name, kind)
    chain = mapper.build(knowledge, [asked], overrides)
    attempts, kept = list(chain.attempts(asked)), chain.links(asked)
    if embedder is not None and code not in chain.overrides.rows:
        needed = all(link.levels > NEAR for link in kept)
        last = mapper.nearly(chain, [asked], embedder, None).get(code, [])
        attempts.append(Attempt("nearly the name", needed, tuple(last)))
        kept = best([*kept, *last]) if needed else kept
    return MappingExplanation(asked, tuple(attempts), tuple(kept), dict(chain.index.names))
