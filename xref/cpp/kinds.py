"""libclang's cursor kinds (clang-c/Index.h) that xref looks at, and what they become in the index."""

from __future__ import annotations

UNEXPOSED_DECL = 1
STRUCT, UNION, CLASS, ENUM, FIELD, ENUMERATOR, FUNCTION, VARIABLE, PARAMETER = 2, 3, 4, 5, 6, 7, 8, 9, 10
TYPEDEF, METHOD, NAMESPACE, LINKAGE_SPEC, CONSTRUCTOR, DESTRUCTOR, CONVERSION = 20, 21, 22, 23, 24, 25, 26
TEMPLATE_TYPE_PARAMETER, TEMPLATE_VALUE_PARAMETER, TEMPLATE_TEMPLATE_PARAMETER = 27, 28, 29
TEMPLATE_PARAMETERS = (TEMPLATE_TYPE_PARAMETER, TEMPLATE_VALUE_PARAMETER, TEMPLATE_TEMPLATE_PARAMETER)
FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL_SPECIALIZATION, NAMESPACE_ALIAS = 30, 31, 32, 33
USING_DECLARATION, TYPE_ALIAS, ALIAS_TEMPLATE, CONCEPT = 35, 36, 601, 604
TYPE_REF, BASE_SPECIFIER, TEMPLATE_REF, NAMESPACE_REF, MEMBER_REF = 43, 44, 45, 46, 47
OVERLOADED_REF, VARIABLE_REF = 49, 50
UNEXPOSED_EXPR, DECL_REF_EXPR, MEMBER_REF_EXPR, CALL_EXPR = 100, 101, 102, 103
STRING_LITERAL, PAREN_EXPR, UNARY_OPERATOR, BINARY_OPERATOR, COMPOUND_ASSIGNMENT = 109, 111, 112, 114, 115
WRAPPERS = (UNEXPOSED_EXPR, PAREN_EXPR)
"""Implicit conversions and parentheses: what stands below them is what is meant."""
SUBSCRIPT, THIS_EXPR, NEW_EXPR, DELETE_EXPR = 113, 132, 134, 135
CONDITIONAL, COMPOUND_STATEMENT, IF_STATEMENT, SWITCH_STATEMENT, RETURN_STATEMENT = 116, 202, 205, 206, 214
RANGE_FOR = 225
TYPEID_EXPR, SIZEOF_EXPR, REQUIRES_EXPR = 129, 136, 154
PACK_EXPANSION = 142
"""SIZEOF_EXPR: alignof and noexcept(..) as well (CXCursor_UnaryExpr)."""
CSTYLE_CAST, INIT_LIST_EXPR, STATIC_CAST, REINTERPRET_CAST, FUNCTIONAL_CAST, LAMBDA_EXPR = 117, 119, 124, 126, 128, 144
TRANSLATION_UNIT, MACRO_DEFINITION, MACRO_EXPANSION, INCLUSION = 350, 501, 502, 503

SYMBOL_KIND = {
    STRUCT: "struct",
    UNION: "union",
    CLASS: "class",
    ENUM: "enum",
    FIELD: "field",
    ENUMERATOR: "enumerator",
    FUNCTION: "function",
    VARIABLE: "variable",
    PARAMETER: "parameter",
    TYPEDEF: "typedef",
    METHOD: "method",
    NAMESPACE: "namespace",
    CONSTRUCTOR: "constructor",
    DESTRUCTOR: "destructor",
    CONVERSION: "conversion",
    TEMPLATE_TYPE_PARAMETER: "template_parameter",
    TEMPLATE_VALUE_PARAMETER: "template_parameter",
    TEMPLATE_TEMPLATE_PARAMETER: "template_parameter",
    FUNCTION_TEMPLATE: "function",
    CLASS_TEMPLATE: "class",
    PARTIAL_SPECIALIZATION: "class",
    NAMESPACE_ALIAS: "namespace",
    TYPE_ALIAS: "typedef",
    ALIAS_TEMPLATE: "typedef",
    CONCEPT: "concept",
}

TYPE_LIKE = frozenset({STRUCT, UNION, CLASS, CLASS_TEMPLATE, PARTIAL_SPECIALIZATION})
TEMPLATES = frozenset({FUNCTION_TEMPLATE, CLASS_TEMPLATE, PARTIAL_SPECIALIZATION, ALIAS_TEMPLATE, CONCEPT})
FUNCTION_LIKE = frozenset({FUNCTION, METHOD, CONSTRUCTOR, DESTRUCTOR, CONVERSION, FUNCTION_TEMPLATE})
TRANSPARENT = frozenset({LINKAGE_SPEC, UNEXPOSED_DECL})
"""Declarations that open no scope of their own (extern "C"); a named one is a variable, see `Declares._unexposed`."""
EXPRESSIONS = range(100, 200)
MAY_CALL = (OVERLOADED_REF, DECL_REF_EXPR, MEMBER_REF_EXPR, CALL_EXPR, NEW_EXPR, DELETE_EXPR)
"""Cursors whose handlers record calls."""

ACCESS = {1: "public", 2: "protected", 3: "private"}

ARRAY_TYPES = range(112, 116)
"""CXType_ConstantArray, _IncompleteArray, _VariableArray, _DependentSizedArray."""
UNKNOWN_TYPES = frozenset({0, 26})
"""CXType_Invalid and _Dependent, which outside templates is what clang gives to an expression that did not compile."""

# CX_BinaryOperatorKind: Assign and the compound assignments; CXUnaryOperatorKind: ++ and --, and &
ASSIGNMENTS = range(22, 33)
INCREMENTS = frozenset({1, 2, 3, 4})
ADDRESS_OF, DEREFERENCE = 5, 6
POINTER_TO_MEMBER = (1, 2)  # CXBinaryOperator_PtrMemD, _PtrMemI
WRITING_OPERATORS = frozenset(
    f"operator{sign}" for sign in ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--")
)
