#include "conntrack/filter.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

namespace knp::conntrack {
namespace {

// The fields in which the tuples are equal.
uint8_t Alike(const Tuple& a, const Tuple& b, uint8_t fields) {
  uint8_t alike = 0;
  if (a.source == b.source) alike |= kSource;
  if (a.destination == b.destination) alike |= kDestination;
  if (a.source_port == b.source_port) alike |= kSourcePort;
  if (a.destination_port == b.destination_port) alike |= kDestinationPort;
  return alike & fields;
}

bool SelectsTuple(const TupleFilter& filter, const Tuple& tuple) {
  return Alike(filter.tuple, tuple, filter.fields) == filter.fields;
}

bool SelectsFlow(const Filter& filter, const Flow& flow) {
  return (filter.family == AF_UNSPEC || filter.family == flow.family) &&
         (filter.protocol == 0 || filter.protocol == flow.protocol) &&
         SelectsTuple(filter.original, flow.original) && SelectsTuple(filter.reply, flow.reply);
}

bool IsEqual(const TupleFilter& a, const TupleFilter& b) {
  return a.fields == b.fields && Alike(a.tuple, b.tuple, a.fields) == a.fields;
}

bool IsEqual(const Filter& a, const Filter& b) {
  return a.family == b.family && a.protocol == b.protocol && IsEqual(a.original, b.original) &&
         IsEqual(a.reply, b.reply);
}

// Removes from `filter` the fields in which `other`, of the same family, differs.
void Widen(const Filter& other, Filter* filter) {
  const auto common = [](const TupleFilter& from, TupleFilter* into) {
    into->fields = Alike(from.tuple, into->tuple, from.fields & into->fields);
  };
  common(other.original, &filter->original);
  common(other.reply, &filter->reply);
  if (filter->protocol != other.protocol) filter->protocol = 0;
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
  const int fields = filter.original.fields | filter.reply.fields;
  return (filter.family == AF_INET || filter.family == AF_INET6) && (fields & (kAddresses | kPorts)) != 0;
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
  uint8_t trusted = kAddresses | kPorts;
  if (filter.family != AF_INET) trusted &= kPorts;
  if (filter.protocol != IPPROTO_TCP && filter.protocol != IPPROTO_UDP) trusted &= kAddresses;
  Filter part = filter;
  part.original.fields &= trusted;
  part.reply.fields &= trusted;
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
