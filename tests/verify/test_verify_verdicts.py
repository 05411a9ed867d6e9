"""What makes a verdict, and what never does."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import tiny
from tiny import candidate, candidates, edge, knowledge, link, links, same

from ehrkg.foundation.ledger import Ledger
from ehrkg.ontology.schema import Knowledge
from ehrkg.ontology.sources import DEFAULT_RELIABILITY, reliability
from ehrkg.verify import EVIDENCE, RELATIONS, Policy, verify

QUIET = tiny.QUIET


def judge(
    claim: tuple[object, ...],
    edges: list[tuple[object, ...]],
    given: pa.Table | None = None,
    kinds: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The one relation of one claim."""
    concepts = [(key, key[2:], kind, "") for key, kind in (kinds or {}).items()]
    given = given if given is not None else same([str(claim[1]), str(claim[4])])
    found = verify(candidates([claim]), given, knowledge(edges, concepts), policy=QUIET)
    row: dict[str, Any] = found.relations.to_pylist()[0]
    return row


def test_the_tables_have_their_schemas_and_order() -> None:
    claims = candidates([candidate("D:a", "TREATS", f"M:{i}", within=1) for i in range(5)])
    edges = [edge("D:a", "TREATS", f"M:{i}") for i in range(5)]
    found = verify(claims, same(["D:a", "M:0", "M:1"]), knowledge(edges), policy=QUIET)
    assert found.relations.schema == RELATIONS
    assert found.evidence.schema == EVIDENCE
    assert found.relations["id"].to_pylist() == sorted(found.relations["id"].to_pylist())
    keys = [(row["relation"], row["kind"], row["id"]) for row in found.evidence.to_pylist()]
    assert keys == sorted(keys)
    assert len(set(found.evidence["id"].to_pylist())) == len(found.evidence)


def test_a_statement_supports_its_claim_and_says_so() -> None:
    row = judge(candidate("D:a", "TREATS", "M:x"), [edge("D:a", "TREATS", "M:x")])
    assert row["verdict"] == "supported"
    assert row["reasons"] == ["a treats x (support 0.76)"]
    assert row["score_path"] == 0.76
    assert row["score_calibrated"]
    assert (row["origins"], row["depends_on"]) == (["infores:one"], ["infores:one"])


def test_a_source_that_nobody_described_supports_nothing_alone() -> None:
    """One default, wherever it is asked for; a second origin that agrees makes the difference."""
    claims = candidates([candidate("D:a", "TREATS", "M:x")])
    one, two = (edge("D:a", "TREATS", "M:x", source=f"infores:{name}") for name in ("one", "two"))
    assert Policy().default_reliability == reliability("infores:one") == DEFAULT_RELIABILITY
    strict = Policy(definition_bonus=0.0)
    verdicts = [
        verify(claims, same(["D:a", "M:x"]), knowledge(stated), policy=strict)
        .relations["verdict"]
        .to_pylist()
        for stated in ([one], [one, two])
    ]
    assert verdicts == [["unsupported"], ["supported"]]


class TestHierarchy:
    """Why it is walked in one direction only."""

    HEART = [  # noqa: RUF012
        edge("M:systolic", "SUBCLASS_OF", "M:failure"),
        edge("M:acute", "SUBCLASS_OF", "M:systolic"),
    ]

    def test_what_treats_the_genus_treats_its_kinds(self) -> None:
        edges = [*self.HEART, edge("D:a", "TREATS", "M:failure")]
        assert judge(candidate("D:a", "TREATS", "M:systolic"), edges)["verdict"] == "supported"

    def test_less_so_the_further_down(self) -> None:
        edges = [*self.HEART, edge("D:a", "TREATS", "M:failure")]
        scores = [
            judge(candidate("D:a", "TREATS", tail), edges)["score"]
            for tail in ("M:failure", "M:systolic", "M:acute")
        ]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == 3

    def test_two_levels_need_a_second_origin(self) -> None:
        one = [*self.HEART, edge("D:a", "TREATS", "M:failure")]
        two = [*one, edge("D:a", "TREATS", "M:failure", source="infores:two")]
        claim = candidate("D:a", "TREATS", "M:acute")
        assert judge(claim, one)["verdict"] == "unsupported"
        assert judge(claim, two)["verdict"] == "supported"

    def test_what_treats_one_kind_does_not_treat_the_genus(self) -> None:
        """Antivenom treats one kind of poisoning; walking down would have it treat them all."""
        edges = [
            edge("M:snakebite", "SUBCLASS_OF", "M:poisoning"),
            edge("M:opioid", "SUBCLASS_OF", "M:poisoning"),
            edge("D:antivenom", "TREATS", "M:snakebite"),
        ]
        for tail in ("M:poisoning", "M:opioid"):
            row = judge(candidate("D:antivenom", "TREATS", tail), edges)
            assert (row["verdict"], row["n_path"]) == ("unsupported", 0)

    def test_a_cause_of_a_kind_causes_the_genus_and_not_the_reverse(self) -> None:
        """Diabetes causes a nephropathy, hence a kidney disease; what causes kidney disease in
        general need not cause this one. The genus needs two origins: it is often a code's name for
        its commonest kind."""
        edges = [
            edge("M:nephropathy", "SUBCLASS_OF", "M:kidney"),
            edge("M:diabetes", "CAUSES", "M:nephropathy"),
            edge("M:toxin", "CAUSES", "M:kidney"),
        ]
        up = judge(candidate("M:diabetes", "CAUSES", "M:kidney"), edges)
        down = judge(candidate("M:toxin", "CAUSES", "M:nephropathy"), edges)
        assert (up["n_path"], down["n_path"]) == (1, 0)
        edges += [edge("M:diabetes", "CAUSES", "M:nephropathy", source="infores:two")]
        up = judge(candidate("M:diabetes", "CAUSES", "M:kidney"), edges)
        assert (up["verdict"], up["origins"]) == ("supported", ["infores:one", "infores:two"])

    def test_up_to_the_genus_and_down_to_a_sibling_is_no_path(self) -> None:
        """What predisposes to chronic respiratory failure need not do so to acute."""
        edges = [edge("M:chronic", "SUBCLASS_OF", "M:failure")]
        edges += [edge("M:a", "CAUSES", "M:chronic", source=f"infores:{i}") for i in range(3)]
        for levels, paths in ((0, 3), (1, 0)):
            given = links([link("M:a", "M:a"), link("C:acute", "M:failure", levels)])
            row = judge(candidate("M:a", "CAUSES", "C:acute"), edges, given)
            assert row["n_path"] == paths

    def test_a_kind_of_the_cause_causes_and_not_the_reverse(self) -> None:
        edges = [
            edge("M:alcoholic", "SUBCLASS_OF", "M:cirrhosis"),
            edge("M:cirrhosis", "CAUSES", "M:ascites"),
            edge("M:alcoholic", "CAUSES", "M:neuropathy"),
        ]
        down = judge(candidate("M:alcoholic", "CAUSES", "M:ascites"), edges)
        up = judge(candidate("M:cirrhosis", "CAUSES", "M:neuropathy"), edges)
        assert (down["verdict"], up["verdict"]) == ("supported", "unsupported")

    def test_nothing_is_inherited_between_a_concept_and_its_genus(self) -> None:
        """Diabetes causes a complication that is filed under diabetes: it does not cause itself."""
        edges = [
            edge("M:t2", "SUBCLASS_OF", "M:dm"),
            edge("M:foot", "SUBCLASS_OF", "M:dm"),
            edge("M:t2", "CAUSES", "M:foot"),
        ]
        assert judge(candidate("M:t2", "CAUSES", "M:dm"), edges)["verdict"] == "unsupported"
        assert judge(candidate("M:t2", "CAUSES", "M:foot"), edges)["verdict"] == "supported"


class TestNeighbouringPredicates:
    def test_a_cause_predisposes_and_not_the_reverse(self) -> None:
        cause, risk = edge("M:a", "CAUSES", "M:b"), edge("M:a", "PREDISPOSES_TO", "M:b")
        assert judge(candidate("M:a", "PREDISPOSES_TO", "M:b"), [cause])["verdict"] == "supported"
        assert judge(candidate("M:a", "CAUSES", "M:b"), [risk])["verdict"] == "unsupported"

    def test_a_finding_that_a_disease_causes_is_its_manifestation(self) -> None:
        edges = [edge("M:a", "CAUSES", "M:b")]
        claim = candidate("M:a", "HAS_PHENOTYPE", "M:b")
        finding = judge(claim, edges, kinds={"M:a": "disease", "M:b": "finding"})
        complication = judge(claim, edges, kinds={"M:a": "disease", "M:b": "disease"})
        assert (finding["verdict"], complication["verdict"]) == ("supported", "unsupported")

    def test_a_manifestation_is_no_sufficient_ground_for_a_cause(self) -> None:
        """Obesity is a feature of type 2 diabetes, which does not cause it."""
        edges = [
            edge("M:t2", "HAS_PHENOTYPE", "M:obesity", source=f"infores:{i}") for i in range(9)
        ]
        row = judge(candidate("M:t2", "CAUSES", "M:obesity"), edges)
        assert row["verdict"] == "unsupported"
        assert row["n_path"] == 9

    def test_treating_causes_never_adds_up_to_treating_the_effect(self) -> None:
        edges = [edge("D:a", "TREATS", f"M:{i}", source=f"infores:{i}") for i in range(9)]
        edges += [edge(f"M:{i}", "CAUSES", "M:x", source=f"infores:{i}") for i in range(9)]
        row = judge(candidate("D:a", "TREATS", "M:x"), edges)
        assert row["verdict"] == "unsupported"
        assert 0 < row["score"] < 0.5
        assert row["reasons"][0].startswith("too weak: a treats")


class TestAgainst:
    def test_a_contraindication_contradicts_treatment(self) -> None:
        row = judge(candidate("D:a", "TREATS", "M:x"), [edge("D:a", "CONTRAINDICATED_IN", "M:x")])
        assert (row["verdict"], row["n_contradicting"]) == ("contradicted", 1)
        assert row["score"] < 0.01

    def test_indicated_and_contraindicated_is_ambiguous_however_many_say_so(self) -> None:
        edges = [edge("D:a", "TREATS", "M:x", source=f"infores:{i}") for i in range(3)]
        edges += [edge("D:a", "CONTRAINDICATED_IN", "M:x")]
        row = judge(candidate("D:a", "TREATS", "M:x"), edges)
        assert row["verdict"] == "ambiguous"
        assert row["reasons"][0].startswith("for and against: a treats x")

    def test_an_inherited_contraindication_gives_way_to_two_origins(self) -> None:
        """Beta blockers are contraindicated in heart failure; carvedilol is given for it."""
        edges = [
            edge("D:carvedilol", "SUBCLASS_OF", "A:class"),
            edge("A:class", "CONTRAINDICATED_IN", "M:hf"),
            edge("D:carvedilol", "TREATS", "M:hf"),
        ]
        claim = candidate("D:carvedilol", "TREATS", "M:hf")
        assert judge(claim, edges)["verdict"] == "ambiguous"
        edges += [edge("D:carvedilol", "TREATS", "M:hf", source="infores:two")]
        row = judge(claim, edges)
        assert row["verdict"] == "supported"
        assert row["reasons"][1].startswith("outweighed by 2 origins for the claim itself: ")

    def test_a_copied_statement_is_no_second_origin(self) -> None:
        edges = [
            edge("D:carvedilol", "SUBCLASS_OF", "A:class"),
            edge("A:class", "CONTRAINDICATED_IN", "M:hf"),
            edge("D:carvedilol", "TREATS", "M:hf", source="infores:one", origin="label"),
            edge("D:carvedilol", "TREATS", "M:hf", source="infores:two", origin="label"),
        ]
        assert judge(candidate("D:carvedilol", "TREATS", "M:hf"), edges)["verdict"] == "ambiguous"

    def test_contraindicated_in_one_kind_does_not_contradict_the_genus(self) -> None:
        edges = [
            edge("M:kind", "SUBCLASS_OF", "M:genus"),
            edge("D:a", "TREATS", "M:genus"),
            edge("D:a", "CONTRAINDICATED_IN", "M:kind"),
        ]
        assert judge(candidate("D:a", "TREATS", "M:genus"), edges)["verdict"] == "supported"
        assert judge(candidate("D:a", "TREATS", "M:kind"), edges)["verdict"] == "ambiguous"

    def test_a_drug_that_brings_the_kind_about_does_not_inherit_its_treatment(self) -> None:
        """Amiodarone treats arrhythmia; bradycardia is one, and it causes it."""
        edges = [
            edge("M:brady", "SUBCLASS_OF", "M:arrhythmia"),
            edge("D:amiodarone", "TREATS", "M:arrhythmia"),
            edge("D:amiodarone", "CAUSES", "M:brady"),
        ]
        claim = candidate("D:amiodarone", "TREATS", "M:brady")
        assert judge(claim, edges)["verdict"] == "ambiguous"
        by_link = links(
            [
                link("D:amiodarone", "D:amiodarone"),
                link("M:brady", "M:brady"),
                link("M:brady", "M:arrhythmia", 1),
            ]
        )
        assert judge(claim, edges, by_link)["verdict"] == "ambiguous"

    def test_a_drug_may_be_given_for_what_it_can_bring_about(self) -> None:
        """Allopurinol is given for gout and can bring an attack on; its label says both."""
        edges = [edge("D:a", "TREATS", "M:gout"), edge("D:a", "CAUSES", "M:gout")]
        row = judge(candidate("D:a", "TREATS", "M:gout"), edges)
        assert (row["verdict"], row["score_path"]) == ("supported", 0.76)
        assert (
            row["reasons"][1] == "outweighed by one origin for the claim itself: a may bring "
            "about gout"
        )

    @pytest.mark.parametrize("predicate", ["TREATS", "CAUSES", "HAS_PHENOTYPE", "DIAGNOSES"])
    def test_a_denied_statement_contradicts_and_never_supports(self, predicate: str) -> None:
        edges = [edge("M:kind", "SUBCLASS_OF", "M:x"), edge("M:a", f"!{predicate}", "M:x")]
        assert judge(candidate("M:a", predicate, "M:x"), edges)["verdict"] == "contradicted"
        row = judge(candidate("M:a", predicate, "M:kind"), edges)
        assert (row["verdict"], row["n_path"], row["n_contradicting"]) == ("contradicted", 0, 1)

    def test_the_reverse_direction_is_shown_and_does_not_support(self) -> None:
        row = judge(candidate("M:b", "CAUSES", "M:a"), [edge("M:a", "CAUSES", "M:b")])
        assert (row["verdict"], row["score"]) == ("unsupported", 0.0)
        assert row["reasons"] == ["no path joins the two ends", "the reverse is stated: a causes b"]


class TestLinks:
    STATED = [edge("D:a", "TREATS", "M:x"), edge("M:a", "CAUSES", "M:x")]  # noqa: RUF012

    def test_an_unlinked_end_is_never_true(self) -> None:
        """Not even where the codes themselves are joined in the knowledge."""
        for given, words in (
            ([], "unlinked: head and tail"),
            ([link("D:a", "D:a")], "unlinked: tail"),
            ([link("M:x", "M:x")], "unlinked: head"),
        ):
            row = judge(candidate("D:a", "TREATS", "M:x", within=9), self.STATED, links(given))
            assert (row["verdict"], row["score"], row["reasons"]) == ("unsupported", 0.0, [words])

    def test_a_near_link_carries_and_a_broad_one_does_not(self) -> None:
        claim = candidate("D:a", "TREATS", "C:c")
        rows = [
            judge(claim, self.STATED, links([link("D:a", "D:a"), link("C:c", "M:x", levels)]))
            for levels in (0, 1, 2, 3, 4)
        ]
        assert [row["verdict"] for row in rows] == ["supported"] * 2 + ["unsupported"] * 3
        assert rows[1]["score"] > rows[2]["score"] > rows[4]["score"]
        assert rows[2]["reasons"][0] == "linked too broadly: tail 2 levels up"

    def test_many_broad_links_do_not_add_up(self) -> None:
        edges = [edge("D:a", "TREATS", f"M:{i}", source=f"infores:{i}") for i in range(9)]
        given = [link("D:a", "D:a")] + [link("C:c", f"M:{i}", 2) for i in range(9)]
        row = judge(candidate("D:a", "TREATS", "C:c"), edges, links(given))
        assert row["verdict"] == "unsupported"

    def test_the_confidence_of_links_weighs(self) -> None:
        claim = candidate("D:a", "TREATS", "C:c")
        sure, unsure = (
            judge(claim, self.STATED, links([link("D:a", "D:a"), link("C:c", "M:x", 0, surety)]))
            for surety in (1.0, 0.5)
        )
        assert sure["score_path"] == pytest.approx(2 * unsure["score_path"])
        assert sure["score"] > unsure["score"]

    def test_an_effect_linked_to_its_genus_counts_less(self) -> None:
        """What causes the genus need not cause the kind that the code stands for."""
        exact, broad = (
            judge(
                candidate("M:a", "CAUSES", "C:c"),
                self.STATED,
                links([link("M:a", "M:a"), link("C:c", "M:x", levels)]),
            )
            for levels in (0, 1)
        )
        assert exact["score"] > broad["score"]

    def test_a_combination_counts_by_any_of_its_ingredients(self) -> None:
        given = links([link("N:ab", "D:a"), link("N:ab", "D:b"), link("M:x", "M:x")])
        row = judge(candidate("N:ab", "TREATS", "M:x"), self.STATED, given)
        assert (row["verdict"], row["head_concept"]) == ("supported", "D:a")


@pytest.mark.parametrize(
    ("stated", "asked", "verdict"),
    [
        ("", "intravenous", "supported"),
        ("", "", "supported"),
        ("", "unknown", "supported"),
        ("", "topical", "unsupported"),
        ("", "flush", "unsupported"),
        ("", "ophthalmic", "unsupported"),
        ("oral|rectal", "oral", "supported"),
        ("oral|rectal", "rectal", "supported"),
        ("oral|rectal", "intravenous", "unsupported"),
        ("oral|rectal", "", "supported"),
        ("topical", "topical", "supported"),
        ("topical", "oral", "unsupported"),
    ],
)
def test_the_route_is_part_of_the_drug(stated: str, asked: str, verdict: str) -> None:
    row = judge(
        candidate("D:a", "TREATS", "M:x", route=asked), [edge("D:a", "TREATS", "M:x", route=stated)]
    )
    assert row["verdict"] == verdict


class TestOrigins:
    def test_files_that_copy_one_origin_are_one_support(self) -> None:
        claim = candidate("D:a", "TREATS", "M:x")
        copied = [
            edge("D:a", "TREATS", "M:x", source=f"infores:{i}", origin="label") for i in range(3)
        ]
        apart = [edge("D:a", "TREATS", "M:x", source=f"infores:{i}") for i in range(3)]
        assert judge(claim, copied)["score"] == judge(claim, copied[:1])["score"]
        assert judge(claim, apart)["score"] > judge(claim, copied)["score"]
        assert judge(claim, copied)["origins"] == ["label"]
        assert judge(claim, copied)["sources"] == ["infores:0", "infores:1", "infores:2"]

    def test_a_verdict_depends_on_what_it_falls_with(self) -> None:
        claim = candidate("D:a", "TREATS", "M:x")
        edges = [edge("D:a", "TREATS", "M:x", source="infores:one")]
        assert judge(claim, edges)["depends_on"] == ["infores:one"]
        edges += [edge("D:a", "TREATS", "M:x", source="infores:two")]
        assert judge(claim, edges)["depends_on"] == []

    def test_it_depends_on_the_only_source_of_the_hierarchy_too(self) -> None:
        claim = candidate("D:a", "TREATS", "M:kind")
        edges = [edge("D:a", "TREATS", "M:x", source=f"infores:{i}") for i in range(2)]
        edges += [edge("M:kind", "SUBCLASS_OF", "M:x", source="infores:tree")]
        assert judge(claim, edges)["depends_on"] == ["infores:tree"]
        edges += [edge("M:kind", "SUBCLASS_OF", "M:x", source="infores:other")]
        assert judge(claim, edges)["depends_on"] == []

    def test_dependence_is_what_leaving_the_source_out_shows(self) -> None:
        claims = candidates([candidate("D:a", "TREATS", f"M:{i}") for i in range(6)])
        edges = [
            edge("D:a", "TREATS", f"M:{i}", source=f"infores:{s}")
            for i in range(6)
            for s in range(3)
            if (i + s) % 3 or i > 3
        ]
        edges += [edge("M:3", "SUBCLASS_OF", "M:2", source="infores:0")]
        given = same(["D:a", *(f"M:{i}" for i in range(6))])
        whole = verify(claims, given, knowledge(edges), policy=QUIET).relations.to_pylist()
        for source in ("infores:0", "infores:1", "infores:2"):
            left = knowledge(
                [e for e in edges if e[6] != source],
                [(f"M:{i}", "", "disease", "") for i in range(6)],
            )
            after = verify(claims, given, left, policy=QUIET).relations.to_pylist()
            for before, now in zip(whole, after, strict=True):
                fell = before["verdict"] == "supported" and now["verdict"] != "supported"
                assert fell == (source in before["depends_on"]), (source, before["tail"])

    def test_a_hub_counts_less_and_still_supports(self) -> None:
        edges = [edge("D:hub", "TREATS", f"M:{i}") for i in range(1500)]
        edges += [edge("D:rare", "TREATS", "M:y")]
        hub = judge(candidate("D:hub", "TREATS", "M:1"), edges)
        rare = judge(candidate("D:rare", "TREATS", "M:y"), edges)
        assert hub["score"] < rare["score"]
        assert hub["verdict"] == "supported"


class TestCodingRules:
    """Shown, weighed lightly, never enough alone."""

    TREE = [  # noqa: RUF012
        edge("ICD10CM:A1.1", "SUBCLASS_OF", "ICD10CM:A1"),
        edge("ICD10CM:B1.1", "SUBCLASS_OF", "ICD10CM:B1"),
    ]

    def judge(
        self,
        predicate: str,
        rule: tuple[object, ...],
        extra: list[tuple[object, ...]],
        within: int = 0,
        across: int = 0,
    ) -> dict[str, Any]:
        claim = candidate("ICD10CM:A1.1", predicate, "ICD10CM:B1.1", within=within, across=across)
        ends = ((claim[1], "M:diabetes a"), (claim[4], "M:diabetes b"))
        given = links([link(str(code), concept) for code, concept in ends])
        return judge(claim, [*self.TREE, rule, *extra], given)

    @pytest.mark.parametrize("rule", ["CODE_FIRST", "USE_ADDITIONAL_CODE", "CODE_ALSO"])
    @pytest.mark.parametrize("predicate", ["CAUSES", "PREDISPOSES_TO", "HAS_PHENOTYPE"])
    def test_alone_they_never_support(self, rule: str, predicate: str) -> None:
        for ends in (("ICD10CM:B1", "ICD10CM:A1"), ("ICD10CM:A1", "ICD10CM:B1.1")):
            row = self.judge(predicate, edge(ends[0], rule, ends[1]), [], within=99)
            assert row["verdict"] == "unsupported"
            assert (row["n_coding_rule"], row["score"] <= 0.05) == (1, True)

    def test_the_manifestation_is_coded_after_its_cause(self) -> None:
        rule = edge("ICD10CM:B1", "CODE_FIRST", "ICD10CM:A1")
        with_path = self.judge("CAUSES", rule, [edge("M:diabetes a", "CAUSES", "M:diabetes b")])
        without = self.judge(
            "CAUSES",
            edge("ICD10CM:Z", "CODE_ALSO", "ICD10CM:Y"),
            [edge("M:diabetes a", "CAUSES", "M:diabetes b")],
        )
        assert with_path["score"] > without["score"]
        assert with_path["score_coding_rule"] == 0.05

    SIBLINGS = [  # noqa: RUF012
        edge("M:diabetes a", "SUBCLASS_OF", "M:diabetes"),
        edge("M:diabetes b", "SUBCLASS_OF", "M:diabetes"),
    ]
    EXCLUDES = edge("ICD10CM:A1", "EXCLUDES1", "ICD10CM:B1")

    def test_excludes1_contradicts_variants_of_one_parent_within_a_visit(self) -> None:
        row = self.judge("HAS_PHENOTYPE", self.EXCLUDES, self.SIBLINGS, within=1)
        assert row["verdict"] == "contradicted"

    def test_excludes1_is_neutral_for_what_is_no_variant(self) -> None:
        row = self.judge("HAS_PHENOTYPE", self.EXCLUDES, [], within=1)
        assert (row["verdict"], row["n_coding_rule"]) == ("unsupported", 1)

    def test_a_parent_that_is_no_namesake_makes_no_variants(self) -> None:
        """Angina and coronary disease: Excludes1, one parent, and yet one shows the other."""
        edges = [edge(end, "SUBCLASS_OF", "M:heart") for end in ("M:diabetes a", "M:diabetes b")]
        row = self.judge("HAS_PHENOTYPE", self.EXCLUDES, edges, within=1)
        assert (row["verdict"], row["n_contradicting"]) == ("unsupported", 0)

    def test_excludes1_never_contradicts_across_visits(self) -> None:
        row = self.judge("HAS_PHENOTYPE", self.EXCLUDES, self.SIBLINGS, across=5)
        assert (row["verdict"], row["n_contradicting"]) == ("unsupported", 0)

    @pytest.mark.parametrize("predicate", ["CAUSES", "PREDISPOSES_TO"])
    def test_excludes1_never_contradicts_a_cause(self, predicate: str) -> None:
        row = self.judge(
            predicate,
            self.EXCLUDES,
            [*self.SIBLINGS, edge("M:diabetes a", predicate, "M:diabetes b")],
            within=1,
        )
        assert (row["verdict"], row["n_contradicting"]) == ("supported", 0)


def test_statistics_never_support() -> None:
    claims = candidates([candidate("D:a", "TREATS", "M:x", within=500, across=1)])
    found = verify(claims, same(["D:a", "M:x"]), knowledge([]), policy=QUIET)
    row = found.relations.to_pylist()[0]
    assert (row["verdict"], row["n_within"]) == ("unsupported", 500)
    unseen = verify(
        candidates([candidate("D:a", "TREATS", "M:x")]),
        same(["D:a", "M:x"]),
        knowledge([]),
        policy=QUIET,
    )
    assert unseen.relations["score"].to_pylist() == [row["score"]]
    assert found.evidence.num_rows == 0


def test_statistics_are_shown_beside_other_evidence_and_weigh_nothing() -> None:
    stated = knowledge([edge("D:a", "TREATS", "M:x")])
    rows = []
    for within in (1, 500):
        claims = candidates([candidate("D:a", "TREATS", "M:x", within=within, across=1)])
        found = verify(claims, same(["D:a", "M:x"]), stated, policy=QUIET)
        rows.append(found.relations.to_pylist()[0])
        (shown,) = [e for e in found.evidence.to_pylist() if e["kind"] == "statistic"]
        assert (shown["polarity"], shown["weight"]) == ("neutral", 0.0)
    assert rows[0]["score"] == rows[1]["score"]
    words = "seen together in 500 visits and one after the other in 1 pair of visits"
    assert shown["text"].startswith(words)


def test_repeated_rows_count_once_and_stand_in_the_ledger() -> None:
    claims = candidates([candidate("D:a", "TREATS", "M:x")])
    ledger = Ledger()
    twice = pa.concat_tables([claims, claims])
    found = verify(twice, same(["D:a", "M:x"]), knowledge([]), policy=QUIET, ledger=ledger)
    assert len(found.relations) == 1
    assert ledger.as_json() == [
        {"stage": "verify", "unit": "relation", "in": 2, "out": 1, "dropped": {"repeated": 1}}
    ]


def test_nothing_at_all_is_no_error() -> None:
    empty: Knowledge = knowledge([])
    assert len(verify(candidates([]), links([]), empty, policy=QUIET).relations) == 0
    assert len(tiny.verdicts(verify(candidates([]), links([]), empty).relations)) == 0
