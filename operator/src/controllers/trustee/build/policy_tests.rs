//! The policies, evaluated by the engine that Trustee evaluates them with.

use regorus::{Engine, Value as Answer};
use serde_json::{Map, Value, json};

use super::*;

/// What a quote of an approved boot is turned into.
fn claims() -> Map<String, Value> {
    let register = |number: usize| match number {
        16 | 23 => "0".repeat(64),
        17..=22 => "f".repeat(64),
        _ => format!("{number:064}"),
    };
    let registers = (0..24).map(|number| (format!("pcr{number:02}"), json!(register(number))));
    let others = [("init_data".to_owned(), json!("00")), ("report_data".to_owned(), json!("00"))];
    registers.chain(others).collect()
}

fn approved() -> Value {
    json!({ "tpm_pcr4": [format!("{:064}", 4)], "tpm_pcr14": ["other", format!("{:064}", 14)] })
}

/// The claim about executables: 3 is trusted, 33 is not.
fn executables(claims: &Map<String, Value>, reference_values: Value) -> Answer {
    let policies = attestation_policy("ns").data.unwrap();
    let mut engine = Engine::new();
    engine.add_policy("policy.rego".into(), policies["default_cpu.rego"].clone()).unwrap();
    let query = move |names: Vec<Answer>| {
        let value = reference_values.get(names[0].as_string()?.as_ref()).cloned().unwrap_or(Value::Null);
        Answer::from_json_str(&value.to_string())
    };
    engine.add_extension("query_reference_value".into(), 1, Box::new(query)).unwrap();
    engine.set_input(Answer::from_json_str(&json!({ "tpm": claims }).to_string()).unwrap());
    engine.eval_rule("data.policy.trust_claims".into()).unwrap()["executables"].clone()
}

fn allowed(status: &str, plugin: &str) -> Answer {
    let mut engine = Engine::new();
    let policy = trustee_data(false, "ns").data.unwrap()[RESOURCE_POLICY_FILE].clone();
    engine.add_policy("policy.rego".into(), policy).unwrap();
    let token = json!({ "submods": { "cpu0": { "ear.status": status } } });
    engine.set_input(Answer::from_json_str(&token.to_string()).unwrap());
    let request = json!({ "plugin": plugin, "resource-path": ["default", "m", "root"] });
    engine.add_data(Answer::from_json_str(&request.to_string()).unwrap()).unwrap();
    engine.eval_rule("data.policy.allow".into()).unwrap()
}

#[test]
fn an_approved_boot_is_trusted_and_no_other() {
    assert_eq!(executables(&claims(), approved()), 3.into());
    assert_eq!(executables(&claims(), json!({})), 33.into(), "nothing is approved at first");
    assert_eq!(executables(&claims(), json!({ "tpm_pcr4": [format!("{:064}", 4)] })), 33.into());
    for register in ["pcr04", "pcr14"] {
        let mut other = claims();
        other.insert(register.into(), json!("e".repeat(64)));
        assert_eq!(executables(&other, approved()), 33.into(), "{register}");
    }
    assert_eq!(executables(&Map::new(), approved()), 33.into());
}

#[test]
fn a_quote_over_other_registers_is_refused() {
    for number in 16..24 {
        let mut touched = claims();
        touched.insert(format!("pcr{number}"), json!("1".repeat(64)));
        assert_eq!(executables(&touched, approved()), 33.into(), "pcr{number} was set by software");
    }
    for number in 0..24 {
        let mut fewer = claims();
        fewer.remove(&format!("pcr{number:02}"));
        assert_eq!(executables(&fewer, approved()), 33.into(), "pcr{number:02} was not quoted");
    }
    let mut more = claims();
    more.insert("pcr24".into(), json!("0".repeat(64)));
    assert_eq!(executables(&more, approved()), 33.into());
}

#[test]
fn disk_keys_are_released_to_affirmed_machines_only() {
    assert_eq!(allowed("affirming", "resource"), true.into());
    for status in ["warning", "contraindicated", "none", ""] {
        assert_eq!(allowed(status, "resource"), false.into(), "{status}");
    }
    assert_eq!(allowed("affirming", "pkcs11"), false.into());
}
