"""A choice is told by its code, whatever order the options stood in."""

from __future__ import annotations

from ehrkg.evaluation.scoring.choices import told_by_code
from tests.evaluation.made_scores import table
from tests.evaluation.test_baselines import item, items


def test_choices_are_told_by_code_in_every_format():
    asked = items(
        [
            item(1, patient="a"),
            item(2, patient="a") | {"format": "multi", "item_id": "t2.multi", "answer_index": -1},
            item(3, patient="a")
            | {
                "format": "yesno",
                "item_id": "t3.yesno",
                "options": ["yes", "no"],
                "option_codes": ["DRUGNAME:insulin"] * 2,
                "answer_index": 0,
            },
            item(4, patient="a", form="oeq"),
        ]
    )
    shown = {
        "item_id": ["t3.yesno", "t1.mcq4", "elsewhere", "t2.multi", "t4.oeq0", "t1.mcq4"],
        "choice": [1, 3, 2, -1, -1, -1],
        "chosen": [None, None, [1, 2], [0, 2], None, None],
    }
    told = told_by_code(table(shown, 6), asked)
    assert told["chosen_codes"].to_pylist() == [
        ["no"],
        ["DRUGNAME:warfarin"],
        None,
        ["DRUGNAME:aspirin", "DRUGNAME:insulin"],
        None,
        None,
    ]
    assert told["answer_index"].to_pylist() == [0, 2, None, -1, -1, 2]
    assert told.drop_columns(["chosen_codes", "answer_index"]).equals(
        table(shown, 6).drop_columns(["chosen_codes", "answer_index"])
    )
