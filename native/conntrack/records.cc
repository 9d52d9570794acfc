#include "conntrack/records.h"

#include <sys/socket.h>

#include <algorithm>

#include "records/little_endian.h"

namespace knp::conntrack {
namespace {

using records::Load16;
using records::Load32;
using records::Store16;
using records::Store32;

uint16_t LoadFamily(uint8_t family) {
  if (family == 0) return AF_UNSPEC;
  return family == 6 ? AF_INET6 : AF_INET;
}

Tuple LoadTuple(const uint8_t* record) {
  Tuple tuple;
  std::copy_n(record, tuple.source.size(), tuple.source.begin());
  std::copy_n(record + 16, tuple.destination.size(), tuple.destination.begin());
  tuple.source_port = Load16(record + 32);
  tuple.destination_port = Load16(record + 34);
  return tuple;
}

void StoreTuple(const Tuple& tuple, uint8_t* record) {
  std::copy_n(tuple.source.begin(), tuple.source.size(), record);
  std::copy_n(tuple.destination.begin(), tuple.destination.size(), record + 16);
  Store16(record + 32, tuple.source_port);
  Store16(record + 34, tuple.destination_port);
}

}  // namespace

std::vector<Flow> LoadFlows(const uint8_t* records, size_t size) {
  std::vector<Flow> flows;
  flows.reserve(size / kFlowRecord);
  for (const uint8_t* record = records; size >= kFlowRecord; record += kFlowRecord) {
    Flow flow;
    flow.family = LoadFamily(record[0]);
    flow.protocol = record[1];
    flow.zone = Load16(record + 2);
    flow.id = Load32(record + 4);
    flow.original = LoadTuple(record + 20);
    flows.push_back(flow);
    size -= kFlowRecord;
  }
  return flows;
}

std::vector<Filter> LoadFilters(const uint8_t* records, size_t size) {
  std::vector<Filter> filters;
  filters.reserve(size / kFilterRecord);
  for (const uint8_t* record = records; size >= kFilterRecord; record += kFilterRecord) {
    Filter filter;
    filter.family = LoadFamily(record[0]);
    filter.protocol = record[1];
    filter.original = TupleFilter{record[2], LoadTuple(record + 4)};
    filter.reply = TupleFilter{record[3], LoadTuple(record + 4 + kTupleRecord)};
    filters.push_back(filter);
    size -= kFilterRecord;
  }
  return filters;
}

std::vector<uint8_t> StoreFlows(const std::vector<Flow>& flows) {
  std::vector<uint8_t> listing(flows.size() * kFlowRecord);
  uint8_t* record = listing.data();
  for (const Flow& flow : flows) {
    record[0] = flow.family == AF_INET6 ? 6 : 4;
    record[1] = flow.protocol;
    Store16(record + 2, flow.zone);
    Store32(record + 4, flow.id);
    Store32(record + 8, flow.status);
    Store32(record + 12, flow.mark);
    Store32(record + 16, flow.timeout);
    StoreTuple(flow.original, record + 20);
    StoreTuple(flow.reply, record + 20 + kTupleRecord);
    record += kFlowRecord;
  }
  return listing;
}

}  // namespace knp::conntrack
