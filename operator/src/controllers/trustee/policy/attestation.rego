# What an attested TPM quote is worth. Whether its attestation key is trusted was decided before by the verifier.
package policy

import rego.v1

# AR4SI: 3 is "only approved executables were loaded during boot", 33 is "executables are not recognised".
default executables := 33

executables := 3 if {
	input.tpm.pcr04 in query_reference_value("tpm_pcr4")
	input.tpm.pcr14 in query_reference_value("tpm_pcr14")
	all_registers_quoted
	unused_registers_untouched
}

# The verifier compares the digest in the quote with the values sent along, but not which registers were selected
# for it. A quote over registers that software can set would pass; one over all of them in order cannot be shifted.
all_registers_quoted if {
	count([name | some name, _ in input.tpm; startswith(name, "pcr")]) == 24
}

# Registers 16 and 23 can be reset by software and are zero after a start; 17 to 22 hold all ones unless a dynamic
# launch took place.
unused_registers_untouched if {
	every name in ["pcr16", "pcr23"] {
		input.tpm[name] == "0000000000000000000000000000000000000000000000000000000000000000"
	}
	every name in ["pcr17", "pcr18", "pcr19", "pcr20", "pcr21", "pcr22"] {
		input.tpm[name] == "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
	}
}

# AR4SI: 0 makes no claim. Each claim is a rule of its own as well, since Trustee may ask for either form.
default hardware := 0

default configuration := 0

default file_system := 0

default instance_identity := 0

default runtime_opaque := 0

default storage_opaque := 0

default sourced_data := 0

trust_claims := {
	"executables": executables,
	"hardware": hardware,
	"configuration": configuration,
	"file-system": file_system,
	"instance-identity": instance_identity,
	"runtime-opaque": runtime_opaque,
	"storage-opaque": storage_opaque,
	"sourced-data": sourced_data,
}
