// Carries batches out through libipset.
#pragma once

#include <vector>

#include "ipset/types.h"
#include "netlink/batch.h"

namespace knp::ipset {

// Carries the operations out in their order, in the network namespace of the calling thread, and returns
// those that failed. Blocks; takes LibraryMutex(). Without libipset every operation fails with kLibrary.
std::vector<netlink::Failure> Write(const std::vector<Operation>& operations);

// Whether the set of one operation has its entry, or matches it. The rest is as for Write().
netlink::Status Test(const std::vector<Operation>& operation, bool* found);

}  // namespace knp::ipset
