# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_trusted_global_optspecs
    string join \n o/output= color= n/namespace= A/all-namespaces context= cluster= user= kubeconfig= as= as-group= as-uid= request-timeout= s/server= token= certificate-authority= insecure-skip-tls-verify client-certificate= client-key= tls-server-name= h/help V/version
end

function __fish_kubectl_trusted_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_trusted_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_trusted_using_subcommand
    set -l cmd (__fish_kubectl_trusted_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "status" -d 'Tell whether machines are served, and if not, what to do next'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "explain-machine" -d 'Show what a machine needs until it gets its disk key, and where that breaks'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "approve-ak" -d 'Trust attestation keys by hand, and wait until machines can attest with them'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "deny-ak" -d 'Refuse attestation keys for good, under any name, and wait until Trustee has them no more'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "revoke-ak" -d 'Take back what was decided by hand about attestation keys'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "audit-api-calls" -d 'Count API requests, and compare before and after'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "report" -d 'Gather what others need to find out what is wrong, without secrets, into one archive'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "version" -d 'Show which versions there are, and whether they go together'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_needs_command" -f -a "completion" -d 'Print the completion script of a shell, or the helper through which kubectl completes'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -s l -l selector -d 'Show only what has these labels, such as rack=7; the verdict still is about all' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l for -d 'What to wait for: healthy, or delivered=NAME of a machine or key' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l timeout -d 'How long to wait' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -s A -l all-namespaces -d 'All namespaces'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -s w -l watch -d 'Go on until Ctrl-C: redraw on a terminal; in a pipe one line, or one document, for each change'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l wait -d 'Wait until it is so, then show; exit code 124 if it was not in time'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand explain-machine" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s l -l selector -d 'All AttestationKeys with these labels, such as rack=7,stage!=test' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s f -l filename -d 'The AttestationKeys in this file of YAML or JSON (- for stdin), if they have the keys that the file has' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l expect-fingerprint -d 'Only if the key has this fingerprint (with exactly one NAME)' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l dry-run -d 'Change nothing: only show (client), or let the API server check the change too (server)' -r -f -a "client\t''
server\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l timeout -d 'How long to wait for the effect' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l reason -d 'Why, for those who read the approval later' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l all -d 'All AttestationKeys of the namespace, of which only those that wait can be meant'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l pending -d 'Of those, the ones that wait: neither trusted nor refused, and nobody decided'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s y -l yes -d 'Do not ask; needed where there is no terminal'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l no-wait -d 'End when the decision is recorded, without waiting for its effect'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l replace -d 'Also where a person approved another key of the same machine: that key is denied first'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l override-denial -d 'Also where a person denied this key: the denial is overwritten'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand approve-ak" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s l -l selector -d 'All AttestationKeys with these labels, such as rack=7,stage!=test' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s f -l filename -d 'The AttestationKeys in this file of YAML or JSON (- for stdin), if they have the keys that the file has' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l expect-fingerprint -d 'Only if the key has this fingerprint (with exactly one NAME)' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l dry-run -d 'Change nothing: only show (client), or let the API server check the change too (server)' -r -f -a "client\t''
server\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l timeout -d 'How long to wait for the effect' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l reason -d 'Why, for those who read the denial later' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l all -d 'All AttestationKeys of the namespace, of which only those that wait can be meant'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l pending -d 'Of those, the ones that wait: neither trusted nor refused, and nobody decided'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s y -l yes -d 'Do not ask; needed where there is no terminal'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l no-wait -d 'End when the decision is recorded, without waiting for its effect'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand deny-ak" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s l -l selector -d 'All AttestationKeys with these labels, such as rack=7,stage!=test' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s f -l filename -d 'The AttestationKeys in this file of YAML or JSON (- for stdin), if they have the keys that the file has' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l expect-fingerprint -d 'Only if the key has this fingerprint (with exactly one NAME)' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l dry-run -d 'Change nothing: only show (client), or let the API server check the change too (server)' -r -f -a "client\t''
server\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l timeout -d 'How long to wait for the effect' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s y -l yes -d 'Do not ask; needed where there is no terminal'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l no-wait -d 'End when the decision is recorded, without waiting for its effect'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand revoke-ak" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -f -a "snapshot" -d 'Count requests now (metrics) or in audit logs'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -f -a "diff" -d 'Compare two snapshots'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -f -a "run" -d 'Count requests while a command runs, and end with its exit code'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -f -a "live" -d 'Show what is being asked now, interval by interval'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -f -a "top" -d 'Show who sends most requests, by client, verb and resource'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and not __fish_seen_subcommand_from snapshot diff run live top explain" -f -a "explain" -d 'Name habits of clients that cost requests, and how to do with fewer'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l audit-log -d 'Count the events of these audit logs: files, folders with rotated files, "-" for stdin; gzip is recognised. With it, --user names the client whose requests are counted, and -n the namespaces of the objects' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l service-account -d 'Only requests of this ServiceAccount' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l user-agent -d 'Only requests whose user agent begins with this, such as trusted-operator/' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l api-group -d 'Only requests for this API group, such as trusted-execution-clusters.io' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l since -d 'Only requests received at or after this: an instant such as 2026-11-30T17:15:00Z, or 10m for ten minutes ago' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l until -d 'Only requests received before this' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l source -d 'Which counters to read, where no other flag says it' -r -f -a "apiserver-metrics\t'The API server\'s own counters, of all clients together'
apirequestcount\t'OpenShift\'s APIRequestCounts, by user; --service-account chooses one'"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l pod -d 'Read what this pod has counted of its own requests, through the API server: NAME, NAME:PORT or https:NAME:PORT. Takes the right to get pods/proxy' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l metrics-url -d 'Read what a client has counted of its own requests, at this address. The flags --token, --certificate-authority and --insecure-skip-tls-verify are about it then' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l instances -d 'How many processes are behind the address, such as three API servers behind a load balancer: read until so many were seen, each with counters of its own' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l out -d 'Write the document to this file as JSON, for `diff`' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l max -d 'At most N such requests: `list=0`, `get/secrets=3`, `patch/machines/status=10`, `*/secrets=0`; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l max-total -d 'At most N requests in all' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l budget -d 'The limits of this YAML file as well: `maxTotal`, `maxIncrease`, and under `max` a number for each VERB[/RESOURCE]' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l write-budget -d 'Propose such a file from what was counted, with a tenth to spare and nothing where there is nothing' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l junit -d 'Write a JUnit report to this file as well, one test for each limit' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l step-summary -d 'Add the tables as Markdown to this file as well; without a name to that of GITHUB_STEP_SUMMARY' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l as-claimed -d 'Beside it the sum that is often published: requests for our own API group, of all clients'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l strict -d 'End with 4 also when the numbers may be off: short windows, lost lines, clocks that jump'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l max -d 'At most N such requests: `list=0`, `get/secrets=3`, `patch/machines/status=10`, `*/secrets=0`; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l max-total -d 'At most N requests in all' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l budget -d 'The limits of this YAML file as well: `maxTotal`, `maxIncrease`, and under `max` a number for each VERB[/RESOURCE]' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l write-budget -d 'Propose such a file from what was counted, with a tenth to spare and nothing where there is nothing' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l max-increase -d 'The total may grow by at most this much, such as 5%' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l per -d 'Show requests for each object instead of each minute: how many objects there were, such as 20, or before and after, such as 20,40' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l chart -d 'Draw before and after as bars into this file as well, as SVG' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l junit -d 'Write a JUnit report to this file as well, one test for each limit' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l step-summary -d 'Add the tables as Markdown to this file as well; without a name to that of GITHUB_STEP_SUMMARY' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l strict -d 'End with 4 also when the numbers may be off: short windows, lost lines, clocks that jump'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l audit-log -d 'Count the events of these audit logs: files, folders with rotated files, "-" for stdin; gzip is recognised. With it, --user names the client whose requests are counted, and -n the namespaces of the objects' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l service-account -d 'Only requests of this ServiceAccount' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l user-agent -d 'Only requests whose user agent begins with this, such as trusted-operator/' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l api-group -d 'Only requests for this API group, such as trusted-execution-clusters.io' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l since -d 'Only requests received at or after this: an instant such as 2026-11-30T17:15:00Z, or 10m for ten minutes ago' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l until -d 'Only requests received before this' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l source -d 'Which counters to read, where no other flag says it' -r -f -a "apiserver-metrics\t'The API server\'s own counters, of all clients together'
apirequestcount\t'OpenShift\'s APIRequestCounts, by user; --service-account chooses one'"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l pod -d 'Read what this pod has counted of its own requests, through the API server: NAME, NAME:PORT or https:NAME:PORT. Takes the right to get pods/proxy' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l metrics-url -d 'Read what a client has counted of its own requests, at this address. The flags --token, --certificate-authority and --insecure-skip-tls-verify are about it then' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l instances -d 'How many processes are behind the address, such as three API servers behind a load balancer: read until so many were seen, each with counters of its own' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l flow-schema-for -d 'Count all that this ServiceAccount sends, and nothing else, with a FlowSchema that is made for it and removed at the end. Takes the rights to get, list, create, patch and delete flowschemas' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l out -d 'Write the document to this file as JSON, for `diff`' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l max -d 'At most N such requests: `list=0`, `get/secrets=3`, `patch/machines/status=10`, `*/secrets=0`; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l max-total -d 'At most N requests in all' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l budget -d 'The limits of this YAML file as well: `maxTotal`, `maxIncrease`, and under `max` a number for each VERB[/RESOURCE]' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l write-budget -d 'Propose such a file from what was counted, with a tenth to spare and nothing where there is nothing' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l junit -d 'Write a JUnit report to this file as well, one test for each limit' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l step-summary -d 'Add the tables as Markdown to this file as well; without a name to that of GITHUB_STEP_SUMMARY' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l strict -d 'End with 4 also when the numbers may be off: short windows, lost lines, clocks that jump'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l duration -d 'How long to count, such as 10m; without it until Ctrl-C' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l interval -d 'How often to look, at most every second' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l audit-log -d 'Count the events of these audit logs: files, folders with rotated files, "-" for stdin; gzip is recognised. With it, --user names the client whose requests are counted, and -n the namespaces of the objects' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l service-account -d 'Only requests of this ServiceAccount' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l user-agent -d 'Only requests whose user agent begins with this, such as trusted-operator/' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l api-group -d 'Only requests for this API group, such as trusted-execution-clusters.io' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l since -d 'Only requests received at or after this: an instant such as 2026-11-30T17:15:00Z, or 10m for ten minutes ago' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l until -d 'Only requests received before this' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l source -d 'Which counters to read, where no other flag says it' -r -f -a "apiserver-metrics\t'The API server\'s own counters, of all clients together'
apirequestcount\t'OpenShift\'s APIRequestCounts, by user; --service-account chooses one'"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l pod -d 'Read what this pod has counted of its own requests, through the API server: NAME, NAME:PORT or https:NAME:PORT. Takes the right to get pods/proxy' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l metrics-url -d 'Read what a client has counted of its own requests, at this address. The flags --token, --certificate-authority and --insecure-skip-tls-verify are about it then' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l instances -d 'How many processes are behind the address, such as three API servers behind a load balancer: read until so many were seen, each with counters of its own' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l flow-schema-for -d 'Count all that this ServiceAccount sends, and nothing else, with a FlowSchema that is made for it and removed at the end. Takes the rights to get, list, create, patch and delete flowschemas' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l out -d 'Write the document to this file as JSON, for `diff`' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l max -d 'At most N such requests: `list=0`, `get/secrets=3`, `patch/machines/status=10`, `*/secrets=0`; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l max-total -d 'At most N requests in all' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l budget -d 'The limits of this YAML file as well: `maxTotal`, `maxIncrease`, and under `max` a number for each VERB[/RESOURCE]' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l write-budget -d 'Propose such a file from what was counted, with a tenth to spare and nothing where there is nothing' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l junit -d 'Write a JUnit report to this file as well, one test for each limit' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l step-summary -d 'Add the tables as Markdown to this file as well; without a name to that of GITHUB_STEP_SUMMARY' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l strict -d 'End with 4 also when the numbers may be off: short windows, lost lines, clocks that jump'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from live" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l audit-log -d 'Count the events of these audit logs: files, folders with rotated files, "-" for stdin; gzip is recognised. With it, --user names the client whose requests are counted, and -n the namespaces of the objects' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l service-account -d 'Only requests of this ServiceAccount' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l user-agent -d 'Only requests whose user agent begins with this, such as trusted-operator/' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l api-group -d 'Only requests for this API group, such as trusted-execution-clusters.io' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l since -d 'Only requests received at or after this: an instant such as 2026-11-30T17:15:00Z, or 10m for ten minutes ago' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l until -d 'Only requests received before this' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l by -d 'What requests are told apart by' -r -f -a "user\t''
agent\t''
namespace\t''
verb\t''
resource\t''
code\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l limit -d 'Rows to show' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l audit-log -d 'Count the events of these audit logs: files, folders with rotated files, "-" for stdin; gzip is recognised. With it, --user names the client whose requests are counted, and -n the namespaces of the objects' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l service-account -d 'Only requests of this ServiceAccount' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l user-agent -d 'Only requests whose user agent begins with this, such as trusted-operator/' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l api-group -d 'Only requests for this API group, such as trusted-execution-clusters.io' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l since -d 'Only requests received at or after this: an instant such as 2026-11-30T17:15:00Z, or 10m for ten minutes ago' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l until -d 'Only requests received before this' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand audit-api-calls; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l out -d 'File to write, which must not exist yet; - for stdout' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l tail -d 'Lines of each log, the last ones' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l redact-addresses -d 'Replace IP addresses, and the addresses that clusters are known by'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l client -d 'Only this program; no cluster is asked'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -s o -l output -d 'Format of the result' -r -f -a "table\t''
wide\t''
json\t''
yaml\t''
name\t''
markdown\t''
csv\t''
junit\t''
prometheus\t''
jsonpath=\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l color -d 'Colour: words carry the meaning without it; NO_COLOR and TERM=dumb are respected' -r -f -a "auto\t'Colour on a terminal, unless NO_COLOR is set or TERM is "dumb"'
always\t''
never\t''"
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -s n -l namespace -d 'Namespace; without it that of the context, else "default". Status takes several: a,b' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l context -d 'Context of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l cluster -d 'Cluster of the kubeconfig' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l user -d 'User of the kubeconfig; with --audit-log the client whose requests are counted' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l kubeconfig -d 'Kubeconfig file; without it KUBECONFIG, else ~/.kube/config' -r -F
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l as -d 'Act as this user' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l as-group -d 'Act as a member of this group; may be repeated' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l as-uid -d 'Act with this uid' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l request-timeout -d 'The longest one request may take, such as 30s; 0 for no limit' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -s s -l server -d 'Address of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l token -d 'Bearer token' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l certificate-authority -d 'File with the CA of the API server' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l client-certificate -d 'File with a client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l client-key -d 'File with the key of the client certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l tls-server-name -d 'Name expected in the API server\'s certificate' -r
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -s A -l all-namespaces -d 'All namespaces. Taken in any place, so that the verbs without it can say so; `status` alone offers it'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not check the API server\'s certificate: anybody can then read and change what is sent'
complete -c kubectl-trusted -n "__fish_kubectl_trusted_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
