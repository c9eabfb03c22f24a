//! The YAML beside the types is what the types say. `UPDATE_MANIFESTS=1 cargo test -p trusted-crds --test manifests`
//! writes it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn yaml_files_are_up_to_date() {
    let manifests = trusted_crds::manifests().unwrap();
    assert_eq!(manifests.len(), 4);
    for (name, yaml) in &manifests {
        let path = folder().join(name);
        if std::env::var_os("UPDATE_MANIFESTS").is_some() {
            fs::write(&path, yaml).unwrap();
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == *yaml,
            "crds/{name} is stale; run `UPDATE_MANIFESTS=1 cargo test -p trusted-crds --test manifests`"
        );
    }
}

/// `kubectl apply -f crds/` takes every YAML and JSON file of the folder, so nothing else may lie there. A kustomization
/// under the name `Kustomization` is read by kustomize and passed over by `-f`.
#[test]
fn folder_can_be_applied_as_it_is() {
    let generated: BTreeSet<String> =
        trusted_crds::manifests().unwrap().into_iter().map(|(name, _)| name).collect();
    let names =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let applied: BTreeSet<String> =
        names.filter(|name| [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))).collect();
    assert_eq!(applied, generated);
    let kustomization = fs::read_to_string(folder().join("Kustomization")).unwrap();
    for name in generated {
        assert!(kustomization.contains(&format!("- {name}\n")), "Kustomization lists {name}");
    }
}

#[test]
fn yaml_says_what_the_types_say() {
    for (crd, (name, yaml)) in trusted_crds::crds().iter().zip(trusted_crds::manifests().unwrap()) {
        let read: CustomResourceDefinition = serde_saphyr::from_str(&yaml).unwrap();
        assert!(read == *crd, "{name} changes on its way through YAML");
    }
}

#[test]
fn schemas_are_tidy() {
    for (name, yaml) in trusted_crds::manifests().unwrap() {
        for clutter in ["nullable", "- null", "title:", ".0\n", "Auto-generated", "Validated"] {
            assert!(!yaml.contains(clutter), "{name} holds {clutter}");
        }
    }
}
