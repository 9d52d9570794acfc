#include "binding/classes.h"
#include "binding/client_binding.h"
#include "ipvs/client.h"
#include "ipvs/records.h"

namespace knp::binding {
namespace {

using ipvs::ServiceState;
using netlink::Status;
using Services = std::vector<ServiceState>;

// The class IpvsClient of the addon; src/kernel/shared/addon.ts declares its methods.
class IpvsClient : public ClientBinding<IpvsClient, ipvs::Client> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "IpvsClient",
           {
               InstanceMethod<&IpvsClient::Apply>("apply"),
               InstanceMethod<&IpvsClient::List>("list"),
               InstanceMethod<&IpvsClient::ListServices>("listServices"),
               InstanceMethod<&IpvsClient::ListServers>("listServers"),
               InstanceMethod<&IpvsClient::Get>("get"),
               InstanceMethod<&IpvsClient::GetInfo>("info"),
               InstanceMethod<&IpvsClient::GetTimeouts>("timeouts"),
               InstanceMethod<&IpvsClient::ListDaemons>("listDaemons"),
               InstanceMethod<&IpvsClient::ReadConnections>("readConnections"),
               InstanceMethod<&IpvsClient::EndConnections>("endConnections"),
           });
  }

 private:
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    const auto load = [](const Records& records, ipvs::OperationRecords* out) {
      *out = ipvs::OperationRecords(records.data(), records.size());
      return Status{};
    };
    return ApplyBatch<ipvs::OperationRecords>(info, ipvs::layout::Operation::kSize, load);
  }

  Napi::Value List(const Napi::CallbackInfo& info) {
    const auto list = [](ipvs::Client* client, Services* out) { return client->List(out); };
    return StartListing<ServiceState>(info, list, ipvs::StoreListing);
  }

  Napi::Value ListServices(const Napi::CallbackInfo& info) {
    return Start<Records>(info, [](ipvs::Client* client, Records* out) { return client->ListServices(out); });
  }

  Napi::Value ListServers(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, ipvs::layout::Service::kSize, false, &records)) return {};
    return Start<Records>(info, [records = std::move(records)](ipvs::Client* client, Records* out) {
      return client->ListServers(ipvs::LoadServiceIds(records.data(), records.size()), out);
    });
  }

  Napi::Value Get(const Napi::CallbackInfo& info) {
    Records record;
    if (!ReadRecords(info, 0, ipvs::layout::Service::kSize, true, &record)) return {};
    const auto get = [record = std::move(record)](ipvs::Client* client, Services* out) {
      return client->Get(ipvs::LoadService(record.data()).id, &out->emplace_back());
    };
    return StartListing<ServiceState>(info, get, ipvs::StoreListing);
  }

  Napi::Value GetInfo(const Napi::CallbackInfo& info) {
    return Start<Records>(info, [](ipvs::Client* client, Records* out) {
      ipvs::Info answer;
      Status status = client->GetInfo(&answer);
      if (status.ok()) *out = ipvs::StoreInfo(answer);
      return status;
    });
  }

  Napi::Value GetTimeouts(const Napi::CallbackInfo& info) {
    return Start<Records>(info, [](ipvs::Client* client, Records* out) {
      ipvs::Timeouts answer;
      Status status = client->GetTimeouts(&answer);
      if (status.ok()) *out = ipvs::StoreTimeouts(answer);
      return status;
    });
  }

  Napi::Value ListDaemons(const Napi::CallbackInfo& info) {
    const auto list = [](ipvs::Client* client, std::vector<ipvs::Daemon>* out) {
      return client->ListDaemons(out);
    };
    return StartListing<ipvs::Daemon>(info, list, ipvs::StoreDaemons);
  }

  Napi::Value ReadConnections(const Napi::CallbackInfo& info) {
    uint32_t listing = 0;
    if (!ReadNumber(info, 0, &listing)) return {};
    return Start<Records>(info, [listing](ipvs::Client* client, Records* out) {
      return client->ReadConnections(listing, out);
    });
  }

  Napi::Value EndConnections(const Napi::CallbackInfo& info) {
    uint32_t listing = 0;
    if (!ReadNumber(info, 0, &listing)) return {};
    return StartPlain(info, [listing](ipvs::Client* client) {
      client->EndConnections(listing);
      return Status{};
    });
  }
};

}  // namespace

void InitIpvs(Napi::Object exports) {
  IpvsClient::Init(exports);
}

}  // namespace knp::binding
