//! One test per rule: what is refused, and which flag lifts it.

use super::*;

/// A fresh P-256 key would need a generator; any valid key does.
const KEY: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt
6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==
-----END PUBLIC KEY-----
";

fn fingerprint(digit: char) -> Fingerprint {
    format!("sha256:{}", digit.to_string().repeat(64)).parse().unwrap()
}

fn candidate() -> Candidate {
    Candidate {
        name: "k".into(),
        namespace: "ns".into(),
        uid: "u".into(),
        resource_version: "1".into(),
        uuid: Some("m".into()),
        created: None,
        is_leaving: false,
        key: PublicKey::from_pem(KEY),
        approval: None,
        verdict: None,
        machine: MachineMatch::Missing,
        rivals: vec![],
        namesakes: vec![],
    }
}

fn approval(decision: Decision, fingerprint: String) -> Approval {
    Approval { decision, fingerprint, by: Some("ann".into()), reason: Some("lost".into()) }
}

fn other(name: &str, decision: Option<Decision>) -> Other {
    Other {
        name: name.into(),
        uuid: Some("m".into()),
        fingerprint: Some(fingerprint('a')),
        is_trusted: false,
        decision,
        reason: String::new(),
    }
}

fn rules(named: &[String]) -> Rules<'_> {
    Rules { action: Action::Approve, expected: None, replace: false, override_denial: false, named }
}

/// The reason of the refusal; "write" or "unchanged" otherwise.
fn verdict(candidate: &Candidate, rules: &Rules<'_>) -> &'static str {
    match judge(candidate, rules) {
        Plan::Write { .. } => "write",
        Plan::Unchanged(_) => "unchanged",
        Plan::Refuse(refusal) => refusal.reason,
    }
}

#[test]
fn a_fresh_key_is_approved() {
    assert_eq!(judge(&candidate(), &rules(&[])), Plan::Write { deny_first: vec![] });
}

#[test]
fn what_is_no_usable_key_is_refused_whatever_the_flags() {
    let all = Rules { replace: true, override_denial: true, ..rules(&[]) };
    let leaving = Candidate { is_leaving: true, ..candidate() };
    assert_eq!(verdict(&leaving, &all), "Deleting");
    let broken = Candidate { key: Err(KeyError::NotPem), ..candidate() };
    assert_eq!(verdict(&broken, &all), "InvalidKey");
    let private = Candidate { key: Err(KeyError::PrivateKey), ..candidate() };
    assert_eq!(verdict(&private, &all), "PrivateKey");
}

#[test]
fn another_fingerprint_than_expected_is_refused() {
    let (zeros, own) = (fingerprint('0'), candidate().fingerprint().unwrap().clone());
    assert_eq!(verdict(&candidate(), &Rules { expected: Some(&zeros), ..rules(&[]) }), "FingerprintMismatch");
    assert_eq!(verdict(&candidate(), &Rules { expected: Some(&own), ..rules(&[]) }), "write");
}

#[test]
fn an_approval_counts_only_for_the_key_it_names() {
    let own = candidate().fingerprint().unwrap().to_string();
    let approved = Candidate { approval: Some(approval(Decision::Approved, own)), ..candidate() };
    assert_eq!(verdict(&approved, &rules(&[])), "unchanged");
    let mismatch = approval(Decision::Approved, fingerprint('0').to_string());
    let mismatched = Candidate { approval: Some(mismatch), ..candidate() };
    assert_eq!(verdict(&mismatched, &rules(&[])), "write");
}

#[test]
fn a_denial_stands_until_it_is_overridden() {
    let own = candidate().fingerprint().unwrap().to_string();
    let denied = Candidate { approval: Some(approval(Decision::Denied, own)), ..candidate() };
    let Plan::Refuse(refusal) = judge(&denied, &rules(&[])) else { panic!("a denied key was not refused") };
    assert_eq!(refusal.message, "ann denied this key (lost)");
    assert_eq!(refusal.next.unwrap(), "kubectl trusted approve-ak k -n ns --override-denial");
    assert_eq!(verdict(&denied, &Rules { override_denial: true, ..rules(&[]) }), "write");
}

#[test]
fn a_denial_under_another_name_holds_too() {
    let twin = Candidate { namesakes: vec![other("twin", Some(Decision::Denied))], ..candidate() };
    assert_eq!(verdict(&twin, &Rules { override_denial: true, ..rules(&[]) }), "DeniedElsewhere");
    let both = ["k".to_owned(), "twin".to_owned()];
    assert_eq!(verdict(&twin, &rules(&both)), "DeniedElsewhere");
    assert_eq!(verdict(&twin, &Rules { override_denial: true, ..rules(&both) }), "write");
}

#[test]
fn a_key_serves_one_machine() {
    let elsewhere = Other { is_trusted: true, uuid: Some("n".into()), ..other("twin", None) };
    let twin = Candidate { namesakes: vec![elsewhere], ..candidate() };
    assert_eq!(verdict(&twin, &rules(&[])), "BoundElsewhere");
    let again = Other { is_trusted: true, ..other("twin", None) };
    assert_eq!(verdict(&Candidate { namesakes: vec![again], ..candidate() }, &rules(&[])), "write");
}

#[test]
fn hand_displaces_automatic_but_hand_displaces_hand_only_on_request() {
    let automatic = Other { is_trusted: true, ..other("first", None) };
    let second = Candidate { rivals: vec![automatic], ..candidate() };
    assert_eq!(judge(&second, &rules(&[])), Plan::Write { deny_first: vec![] });
    let by_hand = Candidate { rivals: vec![other("first", Some(Decision::Approved))], ..candidate() };
    assert_eq!(verdict(&by_hand, &rules(&[])), "BoundByHand");
    let replace = Rules { replace: true, ..rules(&[]) };
    assert_eq!(judge(&by_hand, &replace), Plan::Write { deny_first: vec!["first".into()] });
    let denied = Candidate { rivals: vec![other("first", Some(Decision::Denied))], ..candidate() };
    assert_eq!(verdict(&denied, &rules(&[])), "write");
}

#[test]
fn of_two_keys_of_one_machine_a_person_names_one() {
    let second = Candidate { rivals: vec![other("first", None)], ..candidate() };
    let both = ["k".to_owned(), "first".to_owned()];
    assert_eq!(verdict(&second, &rules(&both)), "Ambiguous");
    assert_eq!(verdict(&second, &rules(&["k".to_owned()])), "write");
}

fn against(action: Action, named: &[String]) -> Rules<'_> {
    Rules { action, ..rules(named) }
}

fn trusted(reason: &str) -> Option<(bool, String, String)> {
    Some((true, reason.to_owned(), String::new()))
}

#[test]
fn any_key_can_be_denied_once() {
    let deny = against(Action::Deny, &[]);
    let own = candidate().fingerprint().unwrap().to_string();
    let in_use = Candidate { verdict: trusted("MachineCreated"), ..candidate() };
    let approved = Candidate { approval: Some(approval(Decision::Approved, own.clone())), ..candidate() };
    let mismatched =
        Candidate { approval: Some(approval(Decision::Denied, fingerprint('0').to_string())), ..candidate() };
    for candidate in [candidate(), in_use, approved, mismatched] {
        assert_eq!(judge(&candidate, &deny), Plan::Write { deny_first: vec![] });
    }
    let denied = Candidate { approval: Some(approval(Decision::Denied, own)), ..candidate() };
    assert_eq!(judge(&denied, &deny), Plan::Unchanged(Unchanged::AlreadyDenied));
    let rival = Candidate { rivals: vec![other("first", Some(Decision::Approved))], ..candidate() };
    assert_eq!(judge(&rival, &deny), Plan::Write { deny_first: vec![] }, "nobody else is denied");
}

#[test]
fn a_copy_of_a_trusted_key_is_not_denied_by_mistake() {
    let original = Other { is_trusted: true, uuid: Some("n".into()), ..other("original", None) };
    let copy = Candidate { namesakes: vec![original], ..candidate() };
    assert_eq!(verdict(&copy, &against(Action::Deny, &[])), "TrustedElsewhere");
    let both = ["k".to_owned(), "original".to_owned()];
    assert_eq!(verdict(&copy, &against(Action::Deny, &both)), "write");
}

#[test]
fn only_what_a_person_decided_can_be_taken_back() {
    let revoke = against(Action::Revoke, &[]);
    assert_eq!(judge(&candidate(), &revoke), Plan::Unchanged(Unchanged::NoDecision));
    let automatic = Candidate { verdict: trusted("MachineCreated"), ..candidate() };
    let Plan::Refuse(refusal) = judge(&automatic, &revoke) else { panic!("it stays trusted") };
    assert_eq!(refusal.next.unwrap(), "kubectl trusted deny-ak k -n ns");
    for decision in [Decision::Approved, Decision::Denied] {
        // Of an object whose key is none, too: the decision was about something.
        let key = Err(KeyError::NotPem);
        let approval = Some(approval(decision, fingerprint('0').to_string()));
        assert_eq!(verdict(&Candidate { key, approval, ..candidate() }, &revoke), "write");
    }
}

#[test]
fn what_was_done_before_a_failure_is_told() {
    let refusal = Refusal::new("Forbidden", "no").about("c", &["b".to_owned()]);
    assert_eq!(
        refusal.message,
        "the former key c could not be denied, so nothing was approved: no; already denied: b"
    );
}
