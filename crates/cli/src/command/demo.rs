//! `loadline demo`: a newcomer sees a result within a minute, from a server about which the truth is known.
