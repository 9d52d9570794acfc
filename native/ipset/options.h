// The attributes of operation records → libipset's options.
#pragma once

#include "ipset/library.h"
#include "ipset/types.h"
#include "netlink/status.h"

namespace knp::ipset {

// EOPNOTSUPP for a parameter that this type has only from a later revision on, and for such a flag of an
// entry: the kernel would ignore them. libipset uses the latest revision that it and the kernel have.
netlink::Status CheckRevision(SetType type, const LibraryType& used, Verb verb, const Rest& rest);

// Set the parameters of a set that is created, or the parts of an entry that have no field. libipset must
// know the family already. An error for an attribute that has no option, or none in this version of libipset.
netlink::Status SetParameters(const Rest& rest, const Library& library, LibraryData* data);
netlink::Status SetExtensions(const Rest& rest, const Library& library, LibraryData* data);

// The other name of a swap or of a renaming (IPSET_ATTR_SETNAME2); empty when there is none.
std::string OtherName(const Rest& rest);

}  // namespace knp::ipset
