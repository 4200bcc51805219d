//! Tests of D names in the output of the GNU tools, and of hostile names.

use super::readable;

fn check(name: &str, full: &str, short: &str) {
    assert_eq!(readable(name, false).as_deref(), Some(full), "{name}");
    assert_eq!(readable(name, true).as_deref(), Some(short), "{name}, short");
}

#[test]
fn functions_and_what_compilers_make() {
    for (name, full, short) in [
        ("_Dmain", "D main", "D main"),
        ("_D3foo3barFiZv", "foo.bar(int)", "foo.bar"),
        ("_D3foo3barFiZv.cold", "foo.bar(int) [clone .cold]", "foo.bar [clone .cold]"),
        ("_D3foo3varOi", "foo.var", "foo.var"),
        ("_D3foo3barMOxFZv", "foo.bar() shared const", "foo.bar"),
        ("_D3foo3barMONgxFZv", "foo.bar() shared inout const", "foo.bar"),
        ("_D4test4funcFiZ4__S36innerMFZv", "test.func(int).innerM()", "test.func.innerM"),
        ("_D8demangle4test6__ctorMFZv", "demangle.test.this()", "demangle.test.this"),
        ("_D8demangle4test6__dtorMFZv", "demangle.test.~this()", "demangle.test.~this"),
        ("_D3foo10__postblitMFZv", "foo.this(this)", "foo.this(this)"),
        ("_D3foo3bar10__postblitMFNaZv", "foo.bar.__postblit()", "foo.bar.__postblit"),
        ("_D3foo3bar6__initZ", "initializer for foo.bar", "initializer for foo.bar"),
        ("_D3foo3bar6__vtblZ", "vtable for foo.bar", "vtable for foo.bar"),
        ("_D3foo3bar7__ClassZ", "ClassInfo for foo.bar", "ClassInfo for foo.bar"),
        ("_D3foo3bar11__InterfaceZ", "Interface for foo.bar", "Interface for foo.bar"),
        ("_D3foo12__ModuleInfoZ", "ModuleInfo for foo", "ModuleInfo for foo"),
        ("_DTi16_D3foo1C4lockMFNeZv", "thunk to foo.C.lock()", "thunk to foo.C.lock"),
    ] {
        check(name, full, short);
    }
}

#[test]
fn types() {
    for (code, parameters) in [
        ("HiaPvAhG4l", "char[int], void*, ubyte[], long[4]"),
        ("NhG4f", "__vector(float[4])"),
        ("B2iaNnn", "Tuple!(int, char), typeof(*null), typeof(null)"),
        ("E1a1bC1c1dT1ezizk", "a.b, c.d, e, cent, ucent"),
        ("NgiONgxi", "inout(int), shared(inout(const(int)))"),
        ("xAyaJiKPiLfX", "const(immutable(char)[]), out int, ref int*, lazy float..."),
        ("iY", "int, ..."),
        ("Y", "..."),
        ("NkKiMxiNkMPa", "return ref int, scope const(int), return scope char*"),
        ("PFNaZv", "void() pure function"),
        ("DxFZa", "char() delegate const"),
        ("DUiZPv", "extern(C) void*(int) delegate"),
        (
            "PWZvPVZvPRZvPYZv",
            "extern(Windows) void() function, extern(Pascal) void() function, \
            extern(C++) void() function, extern(Objective-C) void() function",
        ),
        (
            "DFNaNbNdNeNfNiNjNlNmZv",
            "void() pure nothrow @property @trusted @safe @nogc return \
            scope @live delegate",
        ),
    ] {
        let end = if code.ends_with(['X', 'Y']) { "" } else { "Z" };
        check(&format!("_D1m1fF{code}{end}v"), &format!("m.f({parameters})"), "m.f");
    }
}

#[test]
fn arguments_of_templates() {
    for (code, arguments) in [
        ("", ""),
        ("TiTAya", "int, immutable(char)[]"),
        ("HTi", "int"),
        ("Vii3ViN3Vi3", "3, -3, 3"),
        ("Vhi3Vki3Vli3Vmi3", "3u, 3u, 3L, 3uL"),
        ("Vbi1Vbi0Vai97Vai10Vui955Vwi65536", r"true, false, 'a', '\x0a', '\u03bb', '\U00010000'"),
        ("VPvn", "null"),
        ("Vde0A8P6Vde0A8PN6VdeN1P1", "0x0.A8p6, 0x0.A8p-6, -0x1.p1"),
        ("VdeNANVdeINFVdeNINF", "NaN, Inf, -Inf"),
        ("Vcc0A8P6c0A8P6", "0x0.A8p6+0x0.A8p6i"),
        ("VAyaa3_616263VAyuw3_610a63VAyaa2_22ff", "\"abc\", \"a\\nc\"w, \"\"\\xff\""),
        ("VAiA2i1i2VHiiA2i1i2i3i4", "[1, 2], [1:2, 3:4]"),
        ("VS3foo1aS2i1i2", "foo.a(1, 2)"),
        ("VPFZvf_D3foo3barFZv", "foo.bar()"),
        ("S3foo3barS11_D3foo3bariS83foo3bar", "foo.bar, foo.bar, foo.bar"),
        ("X4_abc", "_abc"),
    ] {
        check(&format!("_D1m__T1t{code}Z1fFZv"), &format!("m.t!({arguments}).f()"), "m.t.f");
    }
    check("_D1m8__T1tTiZ1fFZv", "m.t!(int).f()", "m.t.f");
}

#[test]
fn back_references() {
    check("_D3fooQeFZv", "foo.foo()", "foo.foo");
    let name = "std.ascii.toLower";
    check(
        "_D3std5ascii__T7toLowerTaZQlFNaNbNiNfxaZa",
        &format!("{name}!(char).toLower(const(char))"),
        &format!("{name}.toLower"),
    );
    // The type of a delegate, referred to as that of the function.
    check("_D1m1fMFNbDFiZvZ1wMQi", "m.f(void(int) delegate).w(int)", "m.f.w");
}

#[test]
fn what_is_no_name_of_d() {
    for name in [
        "_D",
        "_Data",
        "_D3",
        "_D3fo",
        "_D3foo",
        "_D3fooZ1",
        "_D3fooFi",
        "_D3fooQaFZv",
        "_D3fooQzFZv",
        "_D3foo3barFQaZv",
        "_DT",
        "_DTi_D3foov",
        "_D1mFB99999999999iZv",
        "_D99999999999999999999999av",
        "_D3foo__T1tVAyaa99999999999999999999_00ZFZv",
        "_D1\u{e9}v",
        "_D3foo3b r",
    ] {
        assert_eq!(readable(name, false), None, "{name}");
    }
}

/// Names that nest deeply or double repeatedly are rejected.
#[test]
fn hostile_names_have_an_end() {
    let deep = |part: &str| format!("_D1m1fF{}iZv", part.repeat(10_000));
    for part in ["P", "A", "x", "H", "DF", "PF", "Hi", "S__T1a"] {
        assert_eq!(readable(&deep(part), false), None, "{part}");
    }
    // Each type maps the previous type to itself: 2^30 types.
    let mut doubling = "_D1m1fFHii".to_owned();
    for step in 0..30 {
        doubling.push_str(if step == 0 { "HQeQg" } else { "HQgQi" });
    }
    doubling.push_str("Zv");
    assert_eq!(readable(&doubling, false), None);
    // The output of a name with many parts is in proportion to it.
    let long = format!("_D{}FZv", "1a".repeat(20_000));
    assert_eq!(readable(&long, false).map(|name| name.len()), Some(40_001));
}
