//! Codes of what Pegel asks over the network by itself: probes, channels and scrapes.

macro_rules! outbound_codes {
    ($then:ident: $($before:tt)*) => {
        $then! {
            $($before)*
            EgressRefused {
                code: "egress_refused",
                title: "Address not allowed",
                exit: Unavailable,
                http: 502,
                meaning: "Pegel does not connect to this address: it is link-local, of a cloud's metadata service, loopback or private, and not allowed for this target.",
                cause: "A target or a redirect to an inner address, a name that resolves to one, or a cluster that advertises one.",
                action: "Correct the address, the name or the cluster's advertised.listeners. For a probe, allow private addresses if they are meant, or list its loopback host in the settings; link-local and metadata addresses are never allowed.",
            }
            ResolverUnavailable {
                code: "resolver_unavailable",
                title: "Name server did not answer",
                exit: Unavailable,
                http: 503,
                meaning: "The name could not be looked up because the name server did not answer. That says nothing about the target.",
                cause: "A name server that is down or overloaded, or a machine without a network.",
                action: "Check the machine's name servers.",
            }
            ConnectionRefused {
                code: "connection_refused",
                title: "Connection refused",
                exit: Unavailable,
                http: 502,
                meaning: "The machine is there and refuses connections on this port.",
                cause: "The process is not running, or listens on another port or address.",
                action: "Start it, or correct the port.",
            }
            OutboundTimeout {
                code: "outbound_timeout",
                title: "Target took too long",
                exit: Unavailable,
                http: 504,
                meaning: "The target was not done within the deadline; the message names what it was busy with: resolve, connect, tls, request, first byte or body.",
                cause: "A target that hangs or is overloaded, a firewall that drops packets, or a deadline that is too short.",
                action: "Look at the named phase first; a connect that takes too long is the network, a first byte that does is the target.",
            }
            HttpMalformed {
                code: "http_malformed",
                title: "Answer is no HTTP",
                exit: Unavailable,
                http: 502,
                meaning: "What the target sent is not HTTP/1.",
                cause: "A port of another protocol, or TLS spoken to a port without it.",
                action: "Correct the port or the scheme.",
            }
            HeadersTooLarge {
                code: "headers_too_large",
                title: "Headers too large",
                exit: Unavailable,
                http: 502,
                meaning: "The answer's headers are more than 100, or larger than 64 KiB.",
                cause: "A target that sends endless cookies, or is hostile.",
                action: "Make the target send less.",
            }
            RedirectLoop {
                code: "redirect_loop",
                title: "Redirects go in a circle",
                exit: Unavailable,
                http: 502,
                meaning: "A redirect led to an address that had already been asked.",
                cause: "A login or a proxy that sends everyone back.",
                action: "Ask the final address, or do not follow redirects.",
            }
            RedirectLimit {
                code: "redirect_limit",
                title: "Too many redirects",
                exit: Unavailable,
                http: 502,
                meaning: "There were more redirects than are followed.",
                cause: "A circle in which every address is new.",
                action: "Ask the final address.",
            }
            RedirectRefused {
                code: "redirect_refused",
                title: "Redirect not followed",
                exit: Unavailable,
                http: 502,
                meaning: "A redirect leads from https to http, to another scheme, or nowhere.",
                cause: "A proxy that does not know that it is asked over https, or a broken Location header.",
                action: "Correct the target, or allow the downgrade for it.",
            }
            BodyIncomplete {
                code: "body_incomplete",
                title: "Body cut off",
                exit: Unavailable,
                http: 502,
                meaning: "The connection ended before the whole body had come, whatever was found in it by then.",
                cause: "A target that crashed while it answered, or a proxy that gave up.",
                action: "Look at the target's log.",
            }
            BodyUndecodable {
                code: "body_undecodable",
                title: "Body cannot be decoded",
                exit: Unavailable,
                http: 502,
                meaning: "The body is not in the encoding that its header names, or in one that Pegel does not know.",
                cause: "A broken compressor, or an encoding other than gzip, deflate, br and zstd.",
                action: "Correct the target.",
            }
            StatusUnexpected {
                code: "status_unexpected",
                title: "Unexpected HTTP status",
                exit: Unavailable,
                http: 502,
                meaning: "The target answered with a status that is not among the expected ones.",
                cause: "The target is not well, or needs credentials.",
                action: "Look at what it says for this status.",
            }
            TextMissing {
                code: "text_missing",
                title: "Text not found",
                exit: Unavailable,
                http: 502,
                meaning: "The whole body was read and does not contain the text.",
                cause: "The target is not well, or words its answer differently.",
                action: "Look at the body.",
            }
            TextMissingWithinLimit {
                code: "text_missing_within_limit",
                title: "Text not found within the limit",
                exit: Unavailable,
                http: 502,
                meaning: "The body is larger than what is read of it, and that part does not contain the text.",
                cause: "A body that is larger than expected.",
                action: "Raise the limit, or look for a text that stands earlier.",
            }
            TextPresent {
                code: "text_present",
                title: "Unwanted text found",
                exit: Unavailable,
                http: 502,
                meaning: "The body contains a text that it must not contain.",
                cause: "The target says that something is wrong.",
                action: "Look at the body.",
            }
            JsonInvalid {
                code: "json_invalid",
                title: "Body is no JSON",
                exit: Unavailable,
                http: 502,
                meaning: "The body is not JSON, or too large to be read as JSON.",
                cause: "An error page in place of the answer.",
                action: "Look at the body.",
            }
            JsonMissing {
                code: "json_missing",
                title: "JSON value missing",
                exit: Unavailable,
                http: 502,
                meaning: "There is no value at the path.",
                cause: "The target answers differently from what the path expects.",
                action: "Compare the path with the body.",
            }
            JsonUnexpected {
                code: "json_unexpected",
                title: "Unexpected JSON value",
                exit: Unavailable,
                http: 502,
                meaning: "The value at the path is not as expected.",
                cause: "The target is not well.",
                action: "Look at the value.",
            }
            ReplyMissing {
                code: "reply_missing",
                title: "No reply",
                exit: Unavailable,
                http: 502,
                meaning: "The connection was accepted and closed again without the reply that was expected.",
                cause: "A process that refuses this client, or is just stopping.",
                action: "Look at the target's log.",
            }
            ReplyUnexpected {
                code: "reply_unexpected",
                title: "Unexpected reply",
                exit: Unavailable,
                http: 502,
                meaning: "The target replied, and not with what was expected.",
                cause: "Another protocol on this port, or a target that is not well.",
                action: "Compare the reply with what is expected.",
            }
        }
    };
}

pub(super) use outbound_codes;
