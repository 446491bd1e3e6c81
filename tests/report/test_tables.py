"""Tables of pages: what is compared in a column stands in one unit."""

from __future__ import annotations

from schedlab.report.tables import Cell, Table, seconds_cell, waits_cells


def table(rows):
    return [[cell.text for cell in row] for row in Table("", "", [], rows).rows]


def test_the_waits_of_a_column_stand_in_one_unit():
    """By themselves, these are 90 min, 2.5 h and 5 min; their median has less than two hours."""
    rows = [[Cell("a"), seconds_cell(5_400)], [Cell("b"), seconds_cell(9_000)], [Cell("c"), seconds_cell(300)]]
    assert table(rows) == [["a", "90 min"], ["b", "150 min"], ["c", "5 min"]]


def test_columns_that_are_compared_have_one_unit_and_others_their_own():
    """Of 1.9, 1.9, 3 and 4 h the median is 2.45 h; the third column is measured in seconds."""
    rows = [[*waits_cells(6_840, 6_840), seconds_cell(30)], [*waits_cells(10_800, 14_400), seconds_cell(40)]]
    assert table(rows) == [["1.9 h", "1.9 h", "30 s"], ["3 h", "4 h", "40 s"]]


def test_an_unknown_wait_and_one_of_less_than_a_second_stay_what_they_are():
    rows = [[seconds_cell(float("nan"))], [seconds_cell(0.2)], [seconds_cell(36_000)], [seconds_cell(39_600)]]
    assert table(rows) == [["–"], ["<1 s"], ["10 h"], ["11 h"]]


def test_cells_keep_the_number_that_they_are_sorted_by():
    told = Table("", "", [], [[seconds_cell(5_400)], [seconds_cell(90_000)]])
    assert [row[0].value for row in told.rows] == [5_400, 90_000]
