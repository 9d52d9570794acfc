// Carries batches out through libipset.
#pragma once

#include <vector>

#include "ipset/session.h"
#include "ipset/types.h"
#include "netlink/batch.h"

namespace knp::ipset {

// Carries the operations out in their order, and returns those that failed. Blocks. Under LibraryMutex().
std::vector<netlink::Failure> Write(Session* session, const std::vector<Operation>& operations);

// Whether the set of one operation has its entry, or matches it. The rest is as for Write().
netlink::Status Test(Session* session, const std::vector<Operation>& operation, bool* found);

}  // namespace knp::ipset
