"""The whole visitor of one unit: which cursor goes to which handler, and what is done when the walk has ended."""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.allocations import Allocations
from xref.cpp.captures import Captures
from xref.cpp.clang import CXCursor
from xref.cpp.declares import Declares
from xref.cpp.macros import Macros
from xref.cpp.unevaluated import Unevaluated
from xref.cpp.walk import Inputs


class Visitor(Declares, Captures, Allocations, Macros, Unevaluated):
    """Sends each cursor to its handler."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self.handlers = {
            **dict.fromkeys(kinds.TYPE_LIKE, self._class),
            **dict.fromkeys(kinds.FUNCTION_LIKE, self._function),
            **dict.fromkeys(
                (kinds.TYPE_REF, kinds.TEMPLATE_REF, kinds.NAMESPACE_REF, kinds.MEMBER_REF),
                self._reference,
            ),
            **dict.fromkeys((kinds.TYPEDEF, kinds.TYPE_ALIAS, kinds.FIELD, kinds.ENUMERATOR), self._plain),
            **dict.fromkeys((kinds.ALIAS_TEMPLATE, kinds.CONCEPT), self._plain_template),
            **dict.fromkeys(
                (
                    kinds.TEMPLATE_TYPE_PARAMETER,
                    kinds.TEMPLATE_VALUE_PARAMETER,
                    kinds.TEMPLATE_TEMPLATE_PARAMETER,
                ),
                self._template_parameter,
            ),
            kinds.ENUM: self._enum,
            **dict.fromkeys((kinds.NAMESPACE, kinds.NAMESPACE_ALIAS), self._namespace),
            kinds.VARIABLE: self._variable,
            kinds.PARAMETER: self._parameter,
            kinds.UNEXPOSED_DECL: self._unexposed,
            kinds.LAMBDA_EXPR: self._closure,
            kinds.RETURN_STATEMENT: self._return,
            kinds.RANGE_FOR: self._range_for,
            kinds.SWITCH_STATEMENT: self._switch,
            kinds.BASE_SPECIFIER: self._base,
            kinds.VARIABLE_REF: self._capture,
            kinds.OVERLOADED_REF: self._overloaded,
            kinds.DECL_REF_EXPR: self._expression_reference,
            kinds.MEMBER_REF_EXPR: self._expression_reference,
            kinds.CALL_EXPR: self._call,
            kinds.INIT_LIST_EXPR: self._list,
            kinds.DELETE_EXPR: self._delete,
            kinds.NEW_EXPR: self._new,
            **dict.fromkeys((kinds.SIZEOF_EXPR, kinds.REQUIRES_EXPR), self._operand),
            kinds.TYPEID_EXPR: self._typeid,
            kinds.UNARY_OPERATOR: self._unary,
            kinds.BINARY_OPERATOR: self._binary,
            kinds.COMPOUND_ASSIGNMENT: self._assignment,
            kinds.MACRO_DEFINITION: self._macro_definition,
            kinds.MACRO_EXPANSION: self._macro_expansion,
            kinds.INCLUSION: self._inclusion,
        }
        self.heed_decltype()

    def _closure(self, cursor: CXCursor, parent: CXCursor) -> int:
        self.note_copied_captures(cursor)
        return self._lambda(cursor, parent)

    def walk(self, root: CXCursor) -> None:
        """Visit the whole unit. Exceptions of handlers propagate."""
        super().walk(root)
        self.hooks.finish(self, root)
        self._place_macro_references()
