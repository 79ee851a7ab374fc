"""objects.inv: Sphinx itself finds each kind of symbol in it."""

from __future__ import annotations

from pathlib import Path

import site_case
from site_case import Site
from sphobjinv import Inventory


def test_symbols_of_each_kind_are_there(site: Site) -> None:
    inventory = Inventory(str(site.folder / "objects.inv"))
    found = {(each.domain, each.role, each.name): each.uri for each in inventory.objects}
    for domain, role, name, symbol in (
        ("py", "function", "tvm.relax.transform.FuseTIR", site_case.WRAPPER),
        ("py", "function", "tvm.FuseTIR", site_case.WRAPPER),
        ("py", "module", "tvm.relax.transform", site_case.MODULE),
        ("cpp", "function", "tvm::FuseTIR", site_case.CREATOR),
        ("cpp", "function", "tvm::Pass::Run", site_case.RUN_METHOD),
        ("cpp", "class", "tvm::Pass", site_case.PASS),
        ("cpp", "member", "tvm::Pass::level", site_case.LEVEL),
        ("c", "macro", "CHECK", site_case.CHECK),
    ):
        assert found[domain, role, name] == site.address(symbol)
    assert all(len(name.split()) == 1 for _, _, name in found), "a blank would end a name"
    assert all((site.folder / uri.partition("#")[0]).is_file() for uri in found.values())


def test_sphinx_resolves_roles_through_it(site: Site, tmp_path: Path) -> None:
    """Roles as people write them, one per kind, built by Sphinx with warnings as errors."""
    from sphinx.cmd import build as sphinx

    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_text(
        "project = 'notes'\nextensions = ['sphinx.ext.intersphinx']\nnitpicky = True\n"
        f"intersphinx_mapping = {{'tvm': ('https://example.invalid/x/', {str(site.folder / 'objects.inv')!r})}}\n"
    )
    roles = {
        ":py:func:`tvm.relax.transform.FuseTIR`": site_case.WRAPPER, ":py:func:`tvm.FuseTIR`": site_case.WRAPPER,
        ":py:mod:`tvm.relax.transform`": site_case.MODULE, ":cpp:func:`tvm::FuseTIR`": site_case.CREATOR,
        ":cpp:class:`tvm::Pass`": site_case.PASS, ":cpp:func:`tvm::Pass::Run`": site_case.RUN_METHOD,
        ":cpp:member:`tvm::Pass::level`": site_case.LEVEL, ":c:macro:`CHECK`": site_case.CHECK,
        ":external+tvm:cpp:class:`tvm::Pass`": site_case.PASS,
    }  # fmt: skip
    (source / "index.rst").write_text("Notes\n=====\n\n" + "\n\n".join(roles) + "\n")
    assert sphinx.main(["-q", "-W", "-b", "html", str(source), str(tmp_path / "out")]) == 0
    html = (tmp_path / "out" / "index.html").read_text()
    for symbol in roles.values():
        assert f'href="https://example.invalid/x/{site.address(symbol)}"' in html
