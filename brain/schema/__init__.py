"""Python types and JSON: the schema of a type, and values fitted into one."""

from brain.schema.fit import fit
from brain.schema.problems import Misfit, Problem, type_name
from brain.schema.types import json_schema

__all__ = ["Misfit", "Problem", "fit", "json_schema", "type_name"]
