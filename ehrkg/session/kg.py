"""The object that notebooks and scripts hold: one graph, and the stages as its methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ehrkg import ehr, mapping, ontology, verify
from ehrkg.benchmark import DEFAULT_FORMATS, Benchmark
from ehrkg.ehr.schema import EVENTS, Hospital
from ehrkg.foundation.closing import Closing
from ehrkg.foundation.errors import UsageError
from ehrkg.foundation.keys import SecretKey
from ehrkg.foundation.ledger import Ledger
from ehrkg.foundation.storage import read_parquet
from ehrkg.graph import GraphStore, readers, writers
from ehrkg.mapping import MappingExplanation, Overrides
from ehrkg.mapping.schema import Mapping as CodeMapping
from ehrkg.ontology.schema import Knowledge
from ehrkg.propose import Proposer
from ehrkg.session.asked import Asked
from ehrkg.session.exports import Exports
from ehrkg.session.instantiating import instantiate
from ehrkg.session.mapped import explain_code, stored_mapping
from ehrkg.session.pairs import as_pairs, with_statistics
from ehrkg.session.what_if import pairs_without, relations_without
from ehrkg.verify import Embedder, Judge, Policy, SentenceTransformerEmbedder
from ehrkg.verify.schema import Verified
from ehrkg.verify.without import WhatIf


class KnowledgeGraph(Asked, Exports, Closing):
    """A knowledge graph of patients, codes, concepts, relations and templates.

    Each method runs one stage, writes what it found into the graph and keeps it at hand; on a graph
    that was made before, the stages that are missing here are read back from it.

    Args:
        store: the engine that holds the graph (``ehrkg.open`` makes one).
        events: the build's events.parquet, where it lies beside the graph; the graph itself keeps
            one row a (visit, code, route).

    Attributes:
        ledger: what came in, what went out, and why the rest did not, of the stages run here.

    >>> import tempfile
    >>> import ehrkg
    >>> from ehrkg.ehr import synth
    >>> folder = Path(tempfile.mkdtemp())
    >>> synth.write(folder / "tables", patients=3, shape="demo")
    >>> with ehrkg.open(folder / "graph.lbug") as kg:  # a KnowledgeGraph
    ...     _ = kg.load_ehr(folder / "tables")
    ...     kg.query("MATCH (p:Patient) RETURN count(p) AS patients").to_pylist()
    [{'patients': 3}]
    """

    def __init__(self, store: GraphStore, *, events: Path | None = None) -> None:
        self.store = store
        self._events = events
        self.ledger = Ledger()
        self._hospital: Hospital | None = None
        self._knowledge: Knowledge | None = None
        self._mapping: CodeMapping | None = None
        self._overrides: Overrides | None = None
        self._verified: Verified | None = None

    def close(self) -> None:
        """Close the graph."""
        self.store.close()

    def __repr__(self) -> str:
        counts = self.store.counts()
        shown = ", ".join(f"{n:,} {label}" for label, n in counts.items() if n)
        return f"KnowledgeGraph({shown or 'empty'})"

    def load_ehr(
        self,
        source: str | Path,
        *,
        format: str | None = None,  # noqa: A002
        pseudonymise: SecretKey | str | Path | None = None,
    ) -> Hospital:
        """Read a hospital's tables into the graph.

        Args:
            source: the folder of tables.
            format: the tables' format; found from the tables by default.
            pseudonymise: a secret key or its file (made if it is not there): patients and visits
                then go under names made with it.

        Returns:
            Patients, visits, events and codes as tables.

        Raises:
            InputError: the tables can't be used; it says which file, line and column.
            UsageError: the graph holds the visits of other tables; where they are the same
                admissions under other ids (MIMIC-III beside MIMIC-IV), it says so.
        """
        hospital = ehr.read(source, format=format, ledger=self.ledger, pseudonymise=pseudonymise)
        stored = readers.read_hospital(self.store)
        if stored.visits.num_rows and not stored.visits.equals(hospital.visits):
            ehr.refuse_overlap(stored, hospital)
            raise UsageError(
                "this graph holds another hospital's visits",
                todo="open another file, or name another build: ehrkg.open(..., build=...)",
            )
        self._hospital = hospital
        self._mapping = self._verified = None
        writers.write_hospital(self.store, self._hospital)
        return self._hospital

    def load_ontology(self, source: str | Path, *, format: str | None = None) -> Knowledge:  # noqa: A002
        """Add an ontology or a table of knowledge to what ships with the package.

        Args:
            source: OBO, OWL, RDF, a KGX folder, an SSSOM table; ``ontology.formats`` lists all;
                or any table with a declaration (``ontology.declared``).
            format: its format, or the path of a declaration; found from its content by default.

        Returns:
            What was loaded.
        """
        loaded = ontology.load(source, format=format, ledger=self.ledger)
        self._knowledge = ontology.merge(self._base_knowledge(), loaded)
        writers.write_knowledge(self.store, self._knowledge)
        self._mapping = self._verified = None
        return loaded

    def map_codes(
        self,
        *,
        overrides: Overrides | str | Path | None = None,
        embedder: Embedder | None = None,
    ) -> CodeMapping:
        """Link every code of the hospital to the concepts of the knowledge.

        Args:
            overrides: your own mapping, or its file (``ehrkg.mapping.read_overrides`` says how it
                is written); what it says of a code stands over what the methods find.
            embedder: for names that are nearly alike; the packaged MiniLM by default.

        Returns:
            The links, each with method and confidence, and the kind of each drug string.

        Raises:
            UsageError: no hospital's tables were loaded.
            InputError: the file can't be used.
        """
        if overrides is not None and not isinstance(overrides, Overrides):
            overrides = mapping.read_overrides(overrides)
        codes = self.hospital.codes
        self._knowledge = ontology.merge(
            self._base_knowledge(), ontology.for_codes(codes, ledger=self.ledger)
        )
        writers.write_knowledge(self.store, self._knowledge)
        self._mapping = mapping.map_codes(
            codes,
            self._knowledge,
            overrides=overrides,
            embedder=embedder or SentenceTransformerEmbedder(),
            ledger=self.ledger,
        )
        self._overrides = overrides
        writers.write_links(self.store, self._mapping.links, codes["id"])
        self._verified = None
        return self._mapping

    def explain_mapping(self, code: str) -> MappingExplanation:
        """How a code came to its concepts: every method tried, and what it gave.

        Args:
            code: a Code id, such as ``ICD10CM:I50.23``; one that the hospital's tables lack may be
                asked for too.
        """
        return explain_code(code, self.knowledge, self.hospital.codes, self._overrides)

    def propose(self, proposer: Proposer, *, tasks: Iterable[str] | None = None) -> pa.Table:
        """Let a proposer name candidate relations; nothing of it is believed yet.

        Returns:
            Candidates, with the counts behind each.
        """
        if isinstance(proposer, type) or not hasattr(proposer, "propose"):
            raise UsageError(
                f"{proposer!r} is no proposer",
                todo="give an object that proposes, such as ehrkg.propose.Cooccurrence()",
            )
        return proposer.propose(self.hospital, tasks=tasks, ledger=self.ledger)

    def verify(
        self,
        relations: object,
        *,
        policy: Policy | None = None,
        embedder: Embedder | None = None,
        judge: Judge | None = None,
    ) -> Verified:
        """Give each relation a verdict, a score and its evidence.

        Args:
            relations: candidates of a proposer, or any table (Arrow, pandas, polars, a list of
                dicts, the path of a TSV file) with the columns head, predicate and tail, as codes,
                CURIEs or names.
            policy: the rule that turns evidence into a verdict; strict by default.
            embedder: for definition evidence; the packaged MiniLM by default.
            judge: a local model that grades the sentences found (``ehrkg.verify.NliJudge``).

        Returns:
            Relations and evidence. A proposer's relations are also written into the graph; beside
            a user's pairs stands what the graph's hospital counted of them.
        """
        if isinstance(relations, pa.Table) and "proposers" in relations.column_names:
            candidates, links = relations, self.mapping.links
        else:
            candidates, links = verify.resolve_pairs(as_pairs(relations), self.knowledge)
        verified = verify.verify(
            candidates,
            links,
            self.knowledge,
            policy=policy,
            embedder=embedder or SentenceTransformerEmbedder(),
            judge=judge,
            ledger=self.ledger,
        )
        if candidates is not relations:
            return with_statistics(verified, self.store)
        self._verified = verified
        writers.write_relations(self.store, verified.relations, verified.evidence)
        return verified

    def what_if(
        self,
        relations: object = None,
        *,
        without_source: str,
        policy: Policy | None = None,
        embedder: Embedder | None = None,
    ) -> WhatIf:
        """The verdicts if a source had said nothing; nothing is written into the graph.

        Args:
            relations: the graph's own by default, or pairs of yours, as ``verify`` takes them.
            without_source: the infores id of a source of the knowledge.
            policy: as in ``verify``.
            embedder: as in ``verify``.

        Returns:
            The verdicts without it; ``.changed`` is a table of those that are other now.

        Raises:
            UsageError: the knowledge has nothing of that source.
        """
        embedder = embedder or SentenceTransformerEmbedder()
        if relations is not None:
            table = as_pairs(relations)
            return pairs_without(table, self.knowledge, without_source, policy, embedder)
        return relations_without(
            self.verified,
            self.mapping.links,
            self.hospital.codes,
            self.knowledge,
            without_source,
            policy,
            embedder,
            self._overrides,
        )

    def instantiate(
        self,
        *,
        query: str | Path | None = None,
        tasks: Iterable[str] | None = None,
        formats: Iterable[str] = DEFAULT_FORMATS,
        strategies: Iterable[str] = ("frequency",),
        history: int = 0,
        seed: int = 7,
        **parameters: Any,
    ) -> Benchmark:
        """Turn the supported relations at real visits into questions.

        Args:
            query: Cypher text, the name of a query that ships, or a file: ask only what it selects.
                It returns ids of relations or of templates, or rows of visit, context (a list of
                codes), answer and predicate; what of them breaks a rule is counted out under it.
            tasks: which tasks; all by default.
            formats: ``mcq4``, ``mcq5``, ``mcq6``, ``oeq``, ``yesno``, ``multi``.
            strategies: how distractors are chosen: ``frequency``, ``sibling``, ``cooccurring``,
                ``random``.
            history: how many earlier admissions a stem tells of.
            seed: names the draw.
            parameters: the query's.

        Returns:
            The benchmark; its templates are also written into the graph, and its ``made_by`` holds
            these arguments: ``kg.instantiate(**bench.made_by)`` makes it again.

        Raises:
            UsageError: nothing was verified yet, or the query selects nothing that is here.
        """
        return instantiate(
            self,
            query=query,
            tasks=tasks,
            formats=tuple(formats),
            strategies=tuple(strategies),
            history=history,
            seed=seed,
            parameters=parameters,
        )

    @property
    def hospital(self) -> Hospital:
        """What was read, or what the graph holds of it."""
        if self._hospital is None:
            stored = readers.read_hospital(self.store)
            if stored.visits.num_rows == 0:
                raise UsageError(
                    "no hospital tables are loaded", todo="call kg.load_ehr(...) first"
                )
            if self._events is not None:
                stored = replace(stored, events=read_parquet(self._events).cast(EVENTS))
            self._hospital = stored
        return self._hospital

    @property
    def knowledge(self) -> Knowledge:
        """What the ontologies say, with the trees of the hospital's codes."""
        if self._knowledge is None:
            self._knowledge = self._base_knowledge()
        return self._knowledge

    @property
    def mapping(self) -> CodeMapping:
        """Links from codes to concepts; mapped now if they were not."""
        if self._mapping is None:
            self._mapping = stored_mapping(self.store, self.hospital.codes, self.knowledge)
        return self._mapping if self._mapping is not None else self.map_codes()

    @property
    def verified(self) -> Verified:
        """Relations and evidence, of this session or of the graph."""
        if self._verified is None:
            relations = readers.read_relations(self.store)
            if relations.num_rows == 0:
                raise UsageError(
                    "no relation was verified", todo="call kg.propose(...) and kg.verify(...) first"
                )
            self._verified = Verified(relations, readers.read_evidence(self.store))
        return self._verified

    def _base_knowledge(self) -> Knowledge:
        if self._knowledge is not None:
            return self._knowledge
        stored = readers.read_knowledge(self.store)
        if stored.concepts.num_rows:
            return stored
        return ontology.shipped(ledger=self.ledger)
