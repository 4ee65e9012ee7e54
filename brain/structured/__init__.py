"""Model text as values a program can trust: JSON found in replies, dataclasses made of it, routes and plans read."""

from brain.structured.choices import Plan, Route, read_plan, read_route
from brain.structured.find import extract
from brain.structured.marks import Exact, Scale
from brain.structured.parse import ask_as, parse_as

__all__ = ["Exact", "Plan", "Route", "Scale", "ask_as", "extract", "parse_as", "read_plan", "read_route"]
