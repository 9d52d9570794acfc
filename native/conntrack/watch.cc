#include "conntrack/watch.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <cerrno>
#include <memory>

#include "conntrack/codec.h"
#include "conntrack/records.h"
#include "conntrack/settings.h"
#include "netlink/network_namespace.h"

namespace knp::conntrack {

using netlink::Message;
using netlink::Notifications;
using netlink::Status;

void ReadNotification(const Message& message, const Selector& selector, Notifications* out) {
  FlowEvent event = FlowEvent::kNone;
  Flow flow;
  if (!DecodeEvent(message, &event, &flow).ok()) {
    out->lost = true;
  } else if (event != FlowEvent::kNone && selector.Selects(flow)) {
    StoreEvent(event, flow, &out->records);
  }
}

void Watch::Select(uint8_t kinds, const std::vector<Filter>& filters) {
  kinds_ = kinds;
  filters_ = filters;
}

Status Watch::Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds /*timeout*/) {
  netlink::WatchOptions options{network_namespace, NETLINK_NETFILTER, {}};
  if ((kinds_ & kOnNew) != 0) options.groups.push_back(NFNLGRP_CONNTRACK_NEW);
  if ((kinds_ & kOnUpdate) != 0) options.groups.push_back(NFNLGRP_CONNTRACK_UPDATE);
  if ((kinds_ & kOnDestroy) != 0) options.groups.push_back(NFNLGRP_CONNTRACK_DESTROY);
  auto selector = std::make_shared<Selector>(filters_);
  Status status = Join(options, [selector](const Message& message, Notifications* out) {
    ReadNotification(message, *selector, out);
  });
  if (!status.ok()) return status;
  Settings settings;
  status = ReadSettings(*network_namespace, &settings);
  if (!status.ok() || settings.events.value_or(true)) return status;
  return Status::Errno(EOPNOTSUPP, "net.netfilter.nf_conntrack_events is 0: new flows have no events");
}

}  // namespace knp::conntrack
