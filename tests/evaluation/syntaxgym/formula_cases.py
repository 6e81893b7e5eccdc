"""Formulas and items computed by hand, for every operator, in both dialects; each with a change that flips the verdict.

A case is an operator, a formula with square brackets (Hu et al. 2020), the same with round ones (SyntaxGym), the surprisals
of an item, the verdict, and a change to some surprisals after which the verdict is the opposite. `1a 5` means that region 1
of condition a has 5 bits. The comments have the arithmetic, before and after the change.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    operator: str
    square: str
    round: str
    item: str
    holds: bool
    change: str


LESS = ("<", "[(1;%a%) < (1;%b%)]", "((1;%a%) < (1;%b%))")
LESS_SUMS = (
    "<",
    "[ (6;%a%) + (7;%a%) ] < [ (6;%b%) + (7;%b%) ]",
    "((6;%a%) + (7;%a%)) < ((6;%b%) + (7;%b%))",
)
MORE = (">", "[(5;%a-b_c%)>(5;%d%)]", "((5;%a-b_c%)>(5;%d%))")
MORE_ZERO = (">", "[(2;%a%)-(2;%b%)]>0", "((2;%a%)-(2;%b%))>0")
EQUAL = ("=", "[(9;%a%) = (9;%b%)]", "((9;%a%) = (9;%b%))")
EQUAL_NUMBER = ("=", "[(1;%a%) - (1;%b%)] = 2.5", "((1;%a%) - (1;%b%)) = 2.5")
AND = ("&", "[(3;%a%) > (3;%b%)] & [(3;%c%) < (3;%d%)]", "((3;%a%) > (3;%b%)) & ((3;%c%) < (3;%d%))")
AND_THREE = (
    "&",
    "[(5;%ra%) > (5;%ua%)] & [(5;%ra%) > (5;%rn%)] & [[(5;%ra%) - (5;%ua%)] > [(5;%rn%) - (5;%un%)]]",
    "((5;%ra%) > (5;%ua%)) & ((5;%ra%) > (5;%rn%)) & (((5;%ra%) - (5;%ua%)) > ((5;%rn%) - (5;%un%)))",
)
OR = ("|", "[(1;%a%) > (1;%b%)] | [(2;%a%) > (2;%b%)]", "((1;%a%) > (1;%b%)) | ((2;%a%) > (2;%b%))")
OR_AND = (
    "|",
    "(1;%a%) > 1 | (2;%a%) > 1 & (3;%a%) > 1",  # & before |, without brackets
    "(1;%a%) > 1 | ((2;%a%) > 1 & (3;%a%) > 1)",
)
PLUS = ("+", "[(1;%a%) + (2;%a%)] > (1;%b%)", "((1;%a%) + (2;%a%)) > (1;%b%)")
PLUS_CLEFT = (
    "+",
    "[(6;%nm%)-(6;%n%)]+[[(5;%vm%)+(6;%vm%)]-[(5;%v%)+(6;%v%)]]>0",
    "((6;%nm%)-(6;%n%))+(((5;%vm%)+(6;%vm%))-((5;%v%)+(6;%v%)))>0",
)
MINUS = ("-", "[(3;%a%) - (3;%b%)] > [(3;%c%) - (3;%d%)]", "((3;%a%) - (3;%b%)) > ((3;%c%) - (3;%d%))")
MINUS_CHAIN = ("-", "(1;%a%) - (1;%b%) - (1;%c%) + 1 > 0", "((1;%a%) - (1;%b%) - (1;%c%) + 1) > 0")
STAR = ("*", "[(*;%a%)] < [(*;%b%)]", "((*;%a%)) < ((*;%b%))")
STAR_PART = ("*", "[(*;%a%) - (1;%a%)] > (2;%b%)", "((*;%a%) - (1;%a%)) > (2;%b%)")

CASES = (
    # <
    Case(*LESS, "1a 3, 1b 4", True, "1b 2.5"),  # 3 < 4; 3 < 2.5
    Case(*LESS, "1a 4, 1b 3", False, "1a 2.999"),  # 4 < 3; 2.999 < 3
    Case(*LESS, "1a 7, 1b 7", False, "1b 7.0001"),  # a tie is no success; 7 < 7.0001
    Case(*LESS, "1a 0, 1b 12.25", True, "1a 12.25"),  # an empty region; a tie
    Case(*LESS, "1a -1, 1b -2", False, "1b 0"),  # densities can exceed 1: -1 < -2; -1 < 0
    Case(*LESS_SUMS, "6a 8, 7a 10, 6b 9, 7b 12", True, "7b 8"),  # 18 < 21; 18 < 17
    Case(*LESS_SUMS, "6a 11, 7a 6, 6b 9, 7b 7", False, "6a 9"),  # 17 < 16; 15 < 16
    # >
    Case(*MORE, "5a-b_c 14.5, 5d 14", True, "5d 15"),  # 14.5 > 14; 14.5 > 15
    Case(*MORE, "5a-b_c 2, 5d 6", False, "5a-b_c 6.5"),  # 2 > 6; 6.5 > 6
    Case(*MORE, "5a-b_c 5, 5d 5", False, "5d 4.9"),  # a tie; 5 > 4.9
    Case(*MORE, "5a-b_c 0.001, 5d 0", True, "5a-b_c 0"),  # no tolerance here; a tie
    Case(*MORE_ZERO, "2a 3, 2b 1", True, "2b 4"),  # 2 > 0; -1 > 0
    Case(*MORE_ZERO, "2a 1, 2b 3", False, "2a 3.5"),  # -2 > 0; 0.5 > 0
    # = : |left - right| <= 0.001 + 0.00001 * |right|
    Case(*EQUAL, "9a 8, 9b 8", True, "9b 8.5"),  # 0 <= 0.00108; 0.5 <= 0.001085
    Case(*EQUAL, "9a 8, 9b 8.001", True, "9b 8.0012"),  # 0.001 <= 0.00108; 0.0012 <= 0.00108
    Case(*EQUAL, "9a 0, 9b 0", True, "9a 0.0011"),  # two empty regions; 0.0011 <= 0.001
    Case(*EQUAL, "9a 500, 9b 500.005", True, "9a 499.99"),  # 0.005 <= 0.006; 0.015 <= 0.006
    Case(*EQUAL, "9a 3, 9b 4", False, "9a 4.0005"),  # 1 <= 0.00104; 0.0005 <= 0.00104
    Case(*EQUAL_NUMBER, "1a 6, 1b 3.5", True, "1b 3.6"),  # 2.5 = 2.5; 2.4 = 2.5
    Case(*EQUAL_NUMBER, "1a 6, 1b 4", False, "1a 6.5005"),  # 2 = 2.5; 2.5005 = 2.5 within 0.001025
    # &
    Case(*AND, "3a 9, 3b 8, 3c 1, 3d 2", True, "3a 7"),  # 9 > 8, 1 < 2; 7 > 8
    Case(*AND, "3a 9, 3b 8, 3c 1, 3d 2", True, "3d 0.5"),  # 9 > 8, 1 < 2; 1 < 0.5
    Case(*AND, "3a 9, 3b 8, 3c 3, 3d 2", False, "3c 1"),  # 3 < 2; 1 < 2
    Case(*AND, "3a 8, 3b 8, 3c 1, 3d 2", False, "3a 8.1"),  # a tie; 8.1 > 8
    Case(*AND_THREE, "5ra 12, 5ua 8, 5rn 9, 5un 7", True, "5un 4"),  # 12 > 8, 12 > 9, 4 > 2; 4 > 5: the third decides
    Case(*AND_THREE, "5ra 12, 5ua 8, 5rn 9, 5un 7", True, "5ua 13"),  # 12 > 13, 12 > 9, -1 > 2
    Case(*AND_THREE, "5ra 12, 5ua 8, 5rn 13, 5un 11", False, "5rn 11.5"),  # 12 > 13, 4 > 2; 12 > 11.5, 4 > 0.5
    # |
    Case(*OR, "1a 2, 1b 1, 2a 0, 2b 5", True, "1a 1"),  # 2 > 1; neither: a tie, 0 > 5
    Case(*OR, "1a 0, 1b 1, 2a 6, 2b 5", True, "2b 7"),  # 6 > 5; neither
    Case(*OR, "1a 0, 1b 1, 2a 4, 2b 5", False, "1a 3"),  # neither; 3 > 1
    Case(*OR, "1a 0, 1b 1, 2a 5, 2b 5", False, "2a 5.5"),  # neither: a tie; 5.5 > 5
    Case(*OR_AND, "1a 2, 2a 0, 3a 0", True, "1a 0"),  # the first alone; none. (1 | 2) & 3 would fail
    Case(*OR_AND, "1a 0, 2a 2, 3a 0", False, "3a 2"),  # only half of the second; both halves
    Case(*OR_AND, "1a 0, 2a 2, 3a 2", True, "2a 1"),  # both halves; a tie
    # +
    Case(*PLUS, "1a 3, 2a 4, 1b 6", True, "2a 2"),  # 7 > 6; 5 > 6
    Case(*PLUS, "1a 3, 2a 3, 1b 6", False, "1a 3.5"),  # a tie, 6 > 6; 6.5 > 6
    Case(*PLUS, "1a 0, 2a 8, 1b 7.5", True, "1b 8"),  # an empty region, 8 > 7.5; a tie
    Case(
        *PLUS_CLEFT, "6nm 9, 6n 7, 5vm 5, 6vm 6, 5v 4, 6v 6", True, "6v 9.5"
    ),  # 2 + (11 - 10) = 3; 2 + (11 - 13.5) = -0.5
    Case(*PLUS_CLEFT, "6nm 7, 6n 9, 5vm 6, 6vm 6, 5v 4, 6v 5", True, "5vm 5"),  # -2 + (12 - 9) = 1; -2 + (11 - 9) = 0
    Case(*PLUS_CLEFT, "6nm 6, 6n 9, 5vm 6, 6vm 6, 5v 5, 6v 5", False, "6nm 7.5"),  # -3 + 2 = -1; -1.5 + 2 = 0.5
    # -
    Case(*MINUS, "3a 9, 3b 5, 3c 6, 3d 5", True, "3d 1"),  # 4 > 1; 4 > 5
    Case(*MINUS, "3a 9, 3b 8, 3c 6, 3d 5", False, "3b 7"),  # a tie, 1 > 1; 2 > 1
    Case(*MINUS, "3a 5, 3b 9, 3c 1, 3d 6", True, "3c 3"),  # -4 > -5; -4 > -3
    Case(*MINUS, "3a 0, 3b 4, 3c 0, 3d 3", False, "3a 2"),  # -4 > -3; -2 > -3
    Case(
        *MINUS_CHAIN, "1a 9, 1b 3, 1c 6", True, "1c 7"
    ),  # 9 - 3 - 6 + 1 = 1; 0. From the right, 9 - (3 - (6 + 1)) = 13
    Case(*MINUS_CHAIN, "1a 4, 1b 3, 1c 2", False, "1b 1"),  # 0; 2
    # * : all regions of a condition
    Case(*STAR, "1a 1, 2a 2, 3a 3, 1b 2, 2b 2, 3b 3", True, "3b 1"),  # 6 < 7; 6 < 5
    Case(*STAR, "1a 4, 2a 2, 3a 3, 1b 2, 2b 2, 3b 3", False, "1a 1"),  # 9 < 7; 6 < 7
    Case(*STAR, "1a 2, 2a 0, 1b 1, 2b 1", False, "2b 1.5"),  # a tie, 2 < 2; 2 < 2.5
    Case(*STAR_PART, "1a 9, 2a 4, 3a 2, 1b 1, 2b 5, 3b 1", True, "2b 7"),  # 15 - 9 = 6 > 5; 6 > 7
    Case(*STAR_PART, "1a 9, 2a 2, 3a 2, 1b 1, 2b 5, 3b 1", False, "3a 4"),  # 13 - 9 = 4 > 5; 6 > 5
    Case(*STAR_PART, "1a 9, 2a 3, 3a 2, 1b 1, 2b 5, 3b 1", False, "2a 3.5"),  # a tie, 5 > 5; 5.5 > 5
)
