//! Seeds of the demangler: names with each kind of production.

use crate::write;

const NAMES: &[(&str, &str)] = &[
    ("expression", "_Z4plusIiEDTplfp_mlfp0_Li2EET_S1_"),
    ("fold", "_Z5foldsIJilEE3IntIXplsZT_frplstT_EEDpS1_"),
    ("forward", "_ZN6shapes3BoxIiEcvRNS0_IT_EEIcEEv"),
    ("function_types", "_Z1fPFizERA3_iOA2_A5_iM5PointKFviREMS4_iPFPFicEfEPPDoFvvE"),
    ("lambda", "_ZZ5localiENKUlidDpT_E_clIJcEEEDaidS0_"),
    (
        "lambda_parameters",
        "_ZNK7genericMUlTyTniTtTyETk5SmallTpTyT_T2_DpT3_E_clIiLi3ESt10tuple_sizecJdiEEEDaS0_S1_S3_QgtstS0_Li1E",
    ),
    ("literals", "_ZN2NFIXtl1FLf3fc00000ELdc002000000000000ELe4000c90fdaa22168c235EEEE1fEv"),
    ("modules", "_ZW3FooWP4Part1fS_1aS0_1b"),
    ("objective_c", "_Z1fPU14objcproto4test11objc_objectS1_"),
    ("requires", "_Z8trailingIiEvT_Qoo5SmallIS0_ErQS0__Xclfp_EXfp_R5SmallTNS0_4typeEQLb1EE"),
    ("special", "_ZThn16_N7DerivedD1Ev"),
    (
        "std",
        "_ZNSt3mapISsSt6vectorI4NodeSaIS1_EESt4lessISsESaISt4pairIKSsS3_EEEixERS7_.isra.0.cold",
    ),
    ("unresolved", "_Z1fIiEDTcldtsrT_1xonplIS0_Esr3stdE7forwardIS0_EdnS0_EEv"),
];

pub fn write_all() {
    for (name, mangled) in NAMES {
        write("cxx_demangle", name, mangled.as_bytes());
    }
}
