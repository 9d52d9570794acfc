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
// The names of services, from whole service records.
std::vector<ServiceId> LoadServiceIds(const uint8_t* records, size_t size);

// Operations in whole records, which outlive it. Each is read when it is asked for: a batch of thousands
// needs no memory for all of them.
class OperationRecords {
 public:
  OperationRecords() = default;
  OperationRecords(const uint8_t* records, size_t size)
      : records_(records), count_(size / layout::Operation::kSize) {}

  size_t size() const { return count_; }
  Operation operator[](size_t index) const;

 private:
  const uint8_t* records_ = nullptr;
  size_t count_ = 0;
};

// Each service, followed by its servers.
std::vector<uint8_t> StoreListing(const std::vector<ServiceState>& services);
// The same without counters and connections, one object after another, because the whole is long.
void AppendService(const Service& service, std::vector<uint8_t>* listing);
// Adds a server to the last service, whose record begins at `service`.
void AppendServer(const RealServer& server, size_t service, std::vector<uint8_t>* listing);
std::vector<uint8_t> StoreInfo(const Info& info);
std::vector<uint8_t> StoreTimeouts(const Timeouts& timeouts);
std::vector<uint8_t> StoreDaemons(const std::vector<Daemon>& daemons);

}  // namespace knp::ipvs
