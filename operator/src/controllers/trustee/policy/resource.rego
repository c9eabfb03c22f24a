# Which resources a machine may read: any disk key, once its attestation was affirmed.
# The token of this Trustee version does not say which key attested, so a resource cannot be bound to its machine.
package policy

import rego.v1

default allow := false

allow if {
	data.plugin == "resource"
	input.submods.cpu0["ear.status"] == "affirming"
}
