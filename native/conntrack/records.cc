#include "conntrack/records.h"

#include "records/fields.h"

namespace knp::conntrack {
namespace {

using records::At;
using records::Load;
using records::Store;

Tuple LoadTuple(const uint8_t* record) {
  using Field = layout::Tuple;
  Tuple tuple;
  tuple.source = Load(record, Field::kSource);
  tuple.destination = Load(record, Field::kDestination);
  tuple.source_port = Load(record, Field::kSourcePort);
  tuple.destination_port = Load(record, Field::kDestinationPort);
  return tuple;
}

void StoreTuple(const Tuple& tuple, uint8_t* record) {
  using Field = layout::Tuple;
  Store(record, Field::kSource, tuple.source);
  Store(record, Field::kDestination, tuple.destination);
  Store(record, Field::kSourcePort, tuple.source_port);
  Store(record, Field::kDestinationPort, tuple.destination_port);
}

Flow LoadFlow(const uint8_t* record) {
  using Field = layout::Flow;
  Flow flow;
  flow.family = records::LoadFamily(record, Field::kFamily);
  flow.protocol = Load(record, Field::kProtocol);
  flow.zone = Load(record, Field::kZone);
  flow.id = Load(record, Field::kId);
  flow.original = LoadTuple(Load(record, Field::kOriginal));
  return flow;
}

Filter LoadFilter(const uint8_t* record) {
  using Field = layout::Filter;
  Filter filter;
  filter.family = records::LoadFamily(record, Field::kFamily);
  filter.protocol = Load(record, Field::kProtocol);
  filter.original =
      TupleFilter{Load(record, Field::kOriginalFields), LoadTuple(Load(record, Field::kOriginal))};
  filter.reply = TupleFilter{Load(record, Field::kReplyFields), LoadTuple(Load(record, Field::kReply))};
  return filter;
}

void StoreFlow(const Flow& flow, uint8_t* record) {
  using Field = layout::Flow;
  records::StoreFamily(record, Field::kFamily, flow.family);
  Store(record, Field::kProtocol, flow.protocol);
  Store(record, Field::kZone, flow.zone);
  Store(record, Field::kId, flow.id);
  Store(record, Field::kStatus, flow.status);
  Store(record, Field::kMark, flow.mark);
  Store(record, Field::kTimeout, flow.timeout);
  StoreTuple(flow.original, At(record, Field::kOriginal));
  StoreTuple(flow.reply, At(record, Field::kReply));
}

}  // namespace

std::vector<Flow> LoadFlows(const uint8_t* records, size_t size) {
  return records::LoadEach<layout::Flow>(records, size, LoadFlow);
}

std::vector<Filter> LoadFilters(const uint8_t* records, size_t size) {
  return records::LoadEach<layout::Filter>(records, size, LoadFilter);
}

std::vector<uint8_t> StoreFlows(const std::vector<Flow>& flows) {
  return records::StoreEach<layout::Flow>(flows, StoreFlow);
}

}  // namespace knp::conntrack
