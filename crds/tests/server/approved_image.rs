//! Validation of ApprovedImage.

use serde_json::{Value, json};
use trusted_crds::ApprovedImage;

use crate::support::{Specs, namespace};

fn digest() -> String {
    format!("sha256:{}", "0123456789abcdef".repeat(4))
}

#[tokio::test]
async fn image_is_named_by_digest() {
    let namespace = namespace("image-digest").await;
    let specs = Specs::of::<ApprovedImage>(&namespace);
    let digest = digest();
    for name in ["os", "registry.example:5000/os/image", "registry.example/os:44"] {
        specs.accepts(json!({"image": format!("{name}@{digest}")})).await;
    }
    let longest = format!("{}@{digest}", "a".repeat(440));
    specs.accepts(json!({"image": longest})).await;
    let expected = "spec.image: Invalid value: image must name the image by digest: NAME@sha256: and 64 lower-case \
                    hexadecimal digits at the end";
    for bad in [
        "registry.example/os".to_owned(),
        "registry.example/os:44".to_owned(),
        "registry.example/os@sha256:".to_owned(),
        format!("registry.example/os@{}", &digest[..70]),
        format!("registry.example/os@{digest}0"),
        format!("registry.example/os@{}", digest.replace('a', "A")),
        format!("registry.example/os@{digest}:tag"),
        format!("@{digest}"),
        digest.clone(),
        format!("two words@{digest}"),
        format!("a@{digest}@{digest}"),
        format!("os@sha512:{}", "0".repeat(128)),
    ] {
        specs.refuses(json!({"image": bad}), expected).await;
    }
    specs.refuses(json!({"image": ""}), "should be at least 1 chars long").await;
    specs
        .refuses(json!({"image": format!("{}@{digest}", "a".repeat(441))}), "may not be more than 512 bytes")
        .await;
    specs.refuses(json!({}), "spec.image: Required value").await;
    specs.refuses(Value::Null, "spec: Required value").await;
}

#[tokio::test]
async fn image_is_immutable() {
    let namespace = namespace("image-immutable").await;
    let specs = Specs::of::<ApprovedImage>(&namespace);
    let image = |name: &str| json!({"image": format!("{name}@{}", digest())});
    let expected =
        "spec.image: Invalid value: image is immutable: create another ApprovedImage for another image";
    specs.refuses_change(image("a"), image("b"), expected).await;
    specs.refuses_change(image("a"), json!({}), "spec.image: Required value").await;
    specs.accepts_change(image("a"), image("a")).await;
}
