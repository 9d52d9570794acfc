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

// What an operation may set of a flow.
Details LoadDetails(const uint8_t* record) {
  using Field = layout::Details;
  Details details;
  details.labels = Load(record, Field::kLabels);
  details.original_tag = Load(record, Field::kOriginalTag);
  details.reply_tag = Load(record, Field::kReplyTag);
  details.helper = Load(record, Field::kHelper);
  details.master_protocol = Load(record, Field::kMasterProtocol);
  details.master = LoadTuple(Load(record, Field::kMaster));
  return details;
}

void StoreDetails(const Details& details, size_t secctx_length, uint8_t* record) {
  using Field = layout::Details;
  Store(record, Field::kOriginalPackets, details.original.packets);
  Store(record, Field::kOriginalBytes, details.original.bytes);
  Store(record, Field::kReplyPackets, details.reply.packets);
  Store(record, Field::kReplyBytes, details.reply.bytes);
  Store(record, Field::kStart, details.start);
  Store(record, Field::kStop, details.stop);
  Store(record, Field::kLabels, details.labels);
  Store(record, Field::kOriginalTag, details.original_tag);
  Store(record, Field::kReplyTag, details.reply_tag);
  Store(record, Field::kHelper, details.helper);
  Store(record, Field::kMasterProtocol, details.master_protocol);
  StoreTuple(details.master, At(record, Field::kMaster));
  Store(record, Field::kSecctxLength, secctx_length);
}

Flow LoadFlow(const uint8_t* record) {
  using Field = layout::Flow;
  Flow flow;
  flow.family = records::LoadFamily(record, Field::kFamily);
  flow.protocol = Load(record, Field::kProtocol);
  flow.fields = Load(record, Field::kFields);
  flow.state = Load(record, Field::kState);
  flow.zone = Load(record, Field::kZone);
  flow.reply_zone = Load(record, Field::kReplyZone);
  flow.id = Load(record, Field::kId);
  flow.status = Load(record, Field::kStatus);
  flow.mark = Load(record, Field::kMark);
  flow.timeout = Load(record, Field::kTimeout);
  flow.original = LoadTuple(Load(record, Field::kOriginal));
  flow.reply = LoadTuple(Load(record, Field::kReply));
  return flow;
}

Translation LoadTranslation(const uint8_t* record) {
  using Field = layout::Translation;
  Translation translation;
  translation.first = Load(record, Field::kFirst);
  translation.last = Load(record, Field::kLast);
  translation.first_port = Load(record, Field::kFirstPort);
  translation.last_port = Load(record, Field::kLastPort);
  return translation;
}

Operation LoadOperation(const uint8_t* record) {
  using Field = layout::Operation;
  Operation operation;
  operation.verb = static_cast<Verb>(Load(record, Field::kVerb));
  operation.given = Load(record, Field::kGiven);
  operation.mark_mask = Load(record, Field::kMarkMask);
  operation.labels_mask = Load(record, Field::kLabelsMask);
  operation.flow = LoadFlow(Load(record, Field::kFlow));
  if ((operation.flow.fields & kHasDetails) != 0) {
    operation.flow.details = std::make_shared<Details>(LoadDetails(Load(record, Field::kDetails)));
  }
  operation.source = LoadTranslation(Load(record, Field::kSource));
  operation.destination = LoadTranslation(Load(record, Field::kDestination));
  return operation;
}

Filter LoadFilter(const uint8_t* record) {
  using Field = layout::Filter;
  Filter filter;
  filter.family = records::LoadFamily(record, Field::kFamily);
  filter.protocol = Load(record, Field::kProtocol);
  filter.conditions = Load(record, Field::kConditions);
  filter.original = {Load(record, Field::kOriginalFields), LoadTuple(Load(record, Field::kOriginal)),
                     Load(record, Field::kOriginalSourcePrefix),
                     Load(record, Field::kOriginalDestinationPrefix)};
  filter.reply = {Load(record, Field::kReplyFields), LoadTuple(Load(record, Field::kReply)),
                  Load(record, Field::kReplySourcePrefix), Load(record, Field::kReplyDestinationPrefix)};
  filter.zone = Load(record, Field::kZone);
  filter.reply_zone = Load(record, Field::kReplyZone);
  filter.mark = Load(record, Field::kMark);
  filter.mark_mask = Load(record, Field::kMarkMask);
  filter.status = Load(record, Field::kStatus);
  filter.status_mask = Load(record, Field::kStatusMask);
  filter.labels = Load(record, Field::kLabels);
  return filter;
}

void StoreExpectation(const Expectation& expectation, uint8_t* record) {
  using Field = layout::Expectation;
  records::StoreFamily(record, Field::kFamily, expectation.family);
  Store(record, Field::kProtocol, expectation.protocol);
  Store(record, Field::kMasterProtocol, expectation.master_protocol);
  Store(record, Field::kZone, expectation.zone);
  Store(record, Field::kId, expectation.id);
  Store(record, Field::kTimeout, expectation.timeout);
  Store(record, Field::kFlags, expectation.flags);
  Store(record, Field::kPolicy, expectation.policy);
  StoreTuple(expectation.tuple, At(record, Field::kTuple));
  StoreTuple(expectation.mask, At(record, Field::kMask));
  StoreTuple(expectation.master, At(record, Field::kMaster));
  Store(record, Field::kHelper, expectation.helper);
}

void StoreCpu(const CpuStatistics& cpu, uint8_t* record) {
  using Field = layout::Cpu;
  Store(record, Field::kCpu, cpu.cpu);
  Store(record, Field::kFound, cpu.found);
  Store(record, Field::kInvalid, cpu.invalid);
  Store(record, Field::kInsert, cpu.insert);
  Store(record, Field::kInsertFailed, cpu.insert_failed);
  Store(record, Field::kDrop, cpu.drop);
  Store(record, Field::kEarlyDrop, cpu.early_drop);
  Store(record, Field::kError, cpu.error);
  Store(record, Field::kSearchRestart, cpu.search_restart);
  Store(record, Field::kClashResolve, cpu.clash_resolve);
  Store(record, Field::kChainTooLong, cpu.chain_too_long);
}

}  // namespace

std::vector<Operation> LoadOperations(const uint8_t* records, size_t size) {
  return records::LoadEach<layout::Operation>(records, size, LoadOperation);
}

std::vector<Filter> LoadFilters(const uint8_t* records, size_t size) {
  return records::LoadEach<layout::Filter>(records, size, LoadFilter);
}

ListOptions LoadListOptions(const uint8_t* record) {
  using Field = layout::Listing;
  return {Load(record, Field::kPartial) != 0, Load(record, Field::kZeroCounters) != 0,
          static_cast<Table>(Load(record, Field::kTable))};
}

void StoreEvent(FlowEvent event, const Flow& flow, std::vector<uint8_t>* records) {
  using Field = layout::Flow;
  const size_t start = records->size();
  records->resize(start + Field::kSize);
  uint8_t* record = records->data() + start;
  records::StoreFamily(record, Field::kFamily, flow.family);
  Store(record, Field::kProtocol, flow.protocol);
  Store(record, Field::kFields, flow.fields);
  Store(record, Field::kState, flow.state);
  Store(record, Field::kZone, flow.zone);
  Store(record, Field::kReplyZone, flow.reply_zone);
  Store(record, Field::kId, flow.id);
  Store(record, Field::kStatus, flow.status);
  Store(record, Field::kMark, flow.mark);
  Store(record, Field::kTimeout, flow.timeout);
  Store(record, Field::kUse, flow.use);
  Store(record, Field::kEvent, static_cast<uint8_t>(event));
  StoreTuple(flow.original, At(record, Field::kOriginal));
  StoreTuple(flow.reply, At(record, Field::kReply));
  if (!flow.details) return;
  const std::string& secctx = flow.details->secctx;
  const size_t details = records->size();
  records->resize(details + layout::Details::kSize);
  StoreDetails(*flow.details, secctx.size(), records->data() + details);
  records->insert(records->end(), secctx.begin(), secctx.end());
}

std::vector<uint8_t> StoreFlows(const std::vector<Flow>& flows) {
  std::vector<uint8_t> records;
  records.reserve(flows.size() * layout::Flow::kSize);
  for (const Flow& flow : flows) StoreEvent(FlowEvent::kNone, flow, &records);
  return records;
}

std::vector<uint8_t> StoreStatistics(const Statistics& statistics) {
  std::vector<uint8_t> records(layout::Statistics::kSize);
  Store(records.data(), layout::Statistics::kEntries, statistics.entries);
  Store(records.data(), layout::Statistics::kMaxEntries, statistics.max_entries);
  const std::vector<uint8_t> cpus = records::StoreEach<layout::Cpu>(statistics.cpus, StoreCpu);
  records.insert(records.end(), cpus.begin(), cpus.end());
  return records;
}

namespace {

uint8_t StateOf(const std::optional<bool>& setting) {
  if (!setting) return static_cast<uint8_t>(SettingState::kUnknown);
  return static_cast<uint8_t>(*setting ? SettingState::kOn : SettingState::kOff);
}

}  // namespace

std::vector<uint8_t> StoreCapabilities(const Capabilities& capabilities) {
  using Field = layout::Capabilities;
  std::vector<uint8_t> record(Field::kSize);
  Store(record.data(), Field::kAccounting, StateOf(capabilities.settings.accounting));
  Store(record.data(), Field::kTimestamps, StateOf(capabilities.settings.timestamps));
  Store(record.data(), Field::kEvents, StateOf(capabilities.settings.events));
  Store(record.data(), Field::kZones, capabilities.zones ? 1 : 0);
  Store(record.data(), Field::kDeleteByFilter, capabilities.delete_by_filter ? 1 : 0);
  return record;
}

std::vector<uint8_t> StoreExpectations(const std::vector<Expectation>& expectations) {
  return records::StoreEach<layout::Expectation>(expectations, StoreExpectation);
}

}  // namespace knp::conntrack
