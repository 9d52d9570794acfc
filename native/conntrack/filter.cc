#include "conntrack/filter.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

namespace knp::conntrack {
namespace {

uint8_t WidthOf(uint16_t family) {
  return family == AF_INET6 ? 128 : 32;
}

bool HavePrefix(const Address& a, const Address& b, uint8_t bits) {
  const size_t whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  return bits % 8 == 0 || ((a[whole] ^ b[whole]) >> (8 - bits % 8)) == 0;
}

bool SelectsTuple(const TupleFilter& filter, const Tuple& tuple) {
  const Tuple& wanted = filter.tuple;
  const auto is_met = [&](uint8_t field, bool met) { return (filter.fields & field) == 0 || met; };
  const int kind = wanted.destination_port ^ tuple.destination_port;
  return is_met(kSourcePort, wanted.source_port == tuple.source_port) &&
         is_met(kDestinationPort, wanted.destination_port == tuple.destination_port) &&
         is_met(kIcmpType, kind >> 8 == 0) && is_met(kIcmpCode, (kind & 0xff) == 0) &&
         is_met(kSource, HavePrefix(wanted.source, tuple.source, filter.source_prefix)) &&
         is_met(kDestination, HavePrefix(wanted.destination, tuple.destination, filter.destination_prefix));
}

bool HasLabels(const Flow& flow, const Labels& wanted) {
  const Labels none{};
  const Labels& labels = flow.details ? flow.details->labels : none;
  for (size_t i = 0; i < wanted.size(); i++) {
    if ((labels[i] & wanted[i]) != wanted[i]) return false;
  }
  return true;
}

bool MeetsConditions(const Filter& filter, const Flow& flow) {
  const auto is_met = [&](uint8_t condition, bool met) {
    return (filter.conditions & condition) == 0 || met;
  };
  return is_met(kOnMark, (flow.mark & filter.mark_mask) == filter.mark) &&
         is_met(kOnStatus, (flow.status & filter.status_mask) == filter.status) &&
         is_met(kOnZone, flow.zone == filter.zone) &&
         is_met(kOnReplyZone, flow.reply_zone == filter.reply_zone) &&
         is_met(kOnLabels, HasLabels(flow, filter.labels));
}

bool SelectsFlow(const Filter& filter, const Flow& flow) {
  return (filter.family == AF_UNSPEC || filter.family == flow.family) &&
         (filter.protocol == 0 || filter.protocol == flow.protocol) &&
         SelectsTuple(filter.original, flow.original) && SelectsTuple(filter.reply, flow.reply) &&
         MeetsConditions(filter, flow);
}

// The fields in which the tuples are equal, addresses as a whole.
uint8_t Alike(const Tuple& a, const Tuple& b, uint8_t fields) {
  uint8_t alike = 0;
  if (a.source == b.source) alike |= kSource;
  if (a.destination == b.destination) alike |= kDestination;
  if (a.source_port == b.source_port) alike |= kSourcePort;
  if (a.destination_port == b.destination_port) alike |= kDestinationPort;
  return alike & fields;
}

bool IsEqual(const TupleFilter& a, const TupleFilter& b) {
  return a.fields == b.fields && Alike(a.tuple, b.tuple, a.fields) == a.fields;
}

bool HaveOneMark(const Filter& a, const Filter& b) {
  const bool has_mark = (a.conditions & kOnMark) != 0;
  if (has_mark != ((b.conditions & kOnMark) != 0)) return false;
  return !has_mark || (a.mark == b.mark && a.mark_mask == b.mark_mask);
}

// Of kernel parts.
bool IsEqual(const Filter& a, const Filter& b) {
  return a.family == b.family && a.protocol == b.protocol && IsEqual(a.original, b.original) &&
         IsEqual(a.reply, b.reply) && HaveOneMark(a, b);
}

bool NarrowsTuple(const TupleFilter& filter) {
  return (filter.fields & (kPorts | kIcmpKind)) != 0 ||
         ((filter.fields & kSource) != 0 && filter.source_prefix > 0) ||
         ((filter.fields & kDestination) != 0 && filter.destination_prefix > 0);
}

// Removes from `filter` the fields in which `other`, of the same family, differs.
void Widen(const Filter& other, Filter* filter) {
  const auto common = [](const TupleFilter& from, TupleFilter* into) {
    into->fields = Alike(from.tuple, into->tuple, from.fields & into->fields);
  };
  common(other.original, &filter->original);
  common(other.reply, &filter->reply);
  if (filter->protocol != other.protocol) filter->protocol = 0;
  if (!HaveOneMark(*filter, other)) filter->conditions = 0;
}

std::vector<Filter> PlanDumpsOfFamily(const std::vector<Filter>& filters) {
  std::vector<Filter> dumps;
  for (const Filter& filter : filters) {
    const Filter part = KernelPart(filter);
    const auto same = [&](const Filter& dump) { return IsEqual(dump, part); };
    if (std::none_of(dumps.begin(), dumps.end(), same)) dumps.push_back(part);
    if (dumps.size() > kMostWalks) break;
  }
  if (dumps.size() <= kMostWalks) return dumps;
  Filter all = filters.front();
  for (const Filter& filter : filters) Widen(filter, &all);
  return {KernelPart(all)};
}

}  // namespace

bool Narrows(const Filter& filter) {
  const auto has = [&](uint8_t condition, bool narrows) {
    return (filter.conditions & condition) != 0 && narrows;
  };
  return NarrowsTuple(filter.original) || NarrowsTuple(filter.reply) ||
         has(kOnMark, (filter.mark & filter.mark_mask) != 0) || has(kOnZone, filter.zone != 0) ||
         has(kOnReplyZone, filter.reply_zone != 0) || has(kOnLabels, filter.labels != Labels{});
}

Selector::Selector(const std::vector<Filter>& filters) {
  for (const Filter& filter : filters) {
    if ((filter.original.fields & kDestinationPort) != 0) {
      by_port_.emplace(filter.original.tuple.destination_port, filter);
    } else {
      others_.push_back(filter);
    }
  }
}

bool Selector::Selects(const Flow& flow) const {
  const auto [first, last] = by_port_.equal_range(flow.original.destination_port);
  return std::any_of(first, last, [&](const auto& entry) { return SelectsFlow(entry.second, flow); }) ||
         std::any_of(others_.begin(), others_.end(),
                     [&](const Filter& filter) { return SelectsFlow(filter, flow); });
}

Filter KernelPart(const Filter& filter) {
  const auto trusted_of = [&](const TupleFilter& side) {
    uint8_t trusted = kAddresses | kPorts;
    if (filter.family != AF_INET) trusted &= kPorts;
    if (side.source_prefix != WidthOf(filter.family)) trusted &= static_cast<uint8_t>(~kSource);
    if (side.destination_prefix != WidthOf(filter.family)) trusted &= static_cast<uint8_t>(~kDestination);
    if (filter.protocol != IPPROTO_TCP && filter.protocol != IPPROTO_UDP) trusted &= kAddresses;
    return trusted;
  };
  Filter part = filter;
  part.original.fields &= trusted_of(filter.original);
  part.reply.fields &= trusted_of(filter.reply);
  part.conditions &= kOnMark;
  return part;
}

std::vector<Filter> PlanDumps(const std::vector<Filter>& filters) {
  std::vector<Filter> dumps;
  for (const uint16_t family : {AF_UNSPEC, AF_INET, AF_INET6}) {
    std::vector<Filter> own;
    const auto is_own = [&](const Filter& filter) { return filter.family == family; };
    std::copy_if(filters.begin(), filters.end(), std::back_inserter(own), is_own);
    const std::vector<Filter> planned = PlanDumpsOfFamily(own);
    dumps.insert(dumps.end(), planned.begin(), planned.end());
  }
  return dumps;
}

}  // namespace knp::conntrack
