// IPVS structs ↔ the records that cross to JavaScript, of which ipvs/layouts.h has the layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ipvs/layouts.h"
#include "ipvs/types.h"

namespace knp::ipvs {

// Reads whole records; the caller has checked the length. Values are not checked: JavaScript has validated
// them, and the kernel refuses any other.
Service LoadService(const uint8_t* record);
// Services to be listed, from whole service records; of each only the id matters.
std::vector<ServiceState> LoadServices(const uint8_t* records, size_t size);
std::vector<Operation> LoadOperations(const uint8_t* records, size_t size);

// Each service, followed by its servers.
std::vector<uint8_t> StoreListing(const std::vector<ServiceState>& services);
std::vector<uint8_t> StoreInfo(const Info& info);
std::vector<uint8_t> StoreTimeouts(const Timeouts& timeouts);
std::vector<uint8_t> StoreDaemons(const std::vector<Daemon>& daemons);

}  // namespace knp::ipvs
