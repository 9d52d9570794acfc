#include "binding/ipvs_binding.h"

#include <memory>
#include <string>

#include "binding/job.h"
#include "ipvs/client.h"
#include "ipvs/records.h"
#include "records/little_endian.h"

namespace knp::binding {
namespace {

using netlink::Status;
using Records = std::vector<uint8_t>;
using Failures = std::vector<netlink::Failure>;

constexpr size_t kTimeoutsRecord = 12;

Records Pack(std::initializer_list<uint32_t> values) {
  Records record(values.size() * 4);
  uint8_t* next = record.data();
  for (const uint32_t value : values) {
    records::Store32(next, value);
    next += 4;
  }
  return record;
}

// The class IpvsClient of the addon; src/kernel/addon.ts declares its methods.
class IpvsClient : public Napi::ObjectWrap<IpvsClient> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "IpvsClient",
                       {
                           InstanceMethod<&IpvsClient::Open>("open"),
                           InstanceMethod<&IpvsClient::Apply>("apply"),
                           InstanceMethod<&IpvsClient::List>("list"),
                           InstanceMethod<&IpvsClient::ListServices>("listServices"),
                           InstanceMethod<&IpvsClient::ListServers>("listServers"),
                           InstanceMethod<&IpvsClient::Get>("get"),
                           InstanceMethod<&IpvsClient::Flush>("flush"),
                           InstanceMethod<&IpvsClient::GetInfo>("info"),
                           InstanceMethod<&IpvsClient::GetTimeouts>("timeouts"),
                           InstanceMethod<&IpvsClient::SetTimeouts>("setTimeouts"),
                           InstanceMethod<&IpvsClient::Close>("close"),
                       });
  }

  explicit IpvsClient(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<IpvsClient>(info), client_(std::make_shared<ipvs::Client>()) {}

 private:
  Napi::Value Open(const Napi::CallbackInfo& info) {
    std::string path;
    std::chrono::milliseconds timeout{};
    if (!ReadText(info, 0, &path) || !ReadMilliseconds(info, 1, &timeout)) return {};
    return StartOn<Records>(info.Env(), client_, [path, timeout](ipvs::Client* client, Records* /*out*/) {
      return client->Open(path, timeout);
    });
  }

  Napi::Value Apply(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, ipvs::kOperationRecord, false, &records)) return {};
    return StartOn<Failures>(info.Env(), client_,
                             [records = std::move(records)](ipvs::Client* client, Failures* out) {
                               *out = client->Apply(ipvs::LoadOperations(records.data(), records.size()));
                               return Status{};
                             });
  }

  Napi::Value List(const Napi::CallbackInfo& info) {
    return StartOn<Records>(info.Env(), client_, [](ipvs::Client* client, Records* out) {
      std::vector<ipvs::ServiceState> services;
      Status status = client->List(&services);
      if (status.ok()) *out = ipvs::StoreListing(services);
      return status;
    });
  }

  Napi::Value ListServices(const Napi::CallbackInfo& info) {
    return StartOn<Records>(info.Env(), client_, [](ipvs::Client* client, Records* out) {
      std::vector<ipvs::ServiceState> services;
      Status status = client->ListServices(&services);
      if (status.ok()) *out = ipvs::StoreListing(services);
      return status;
    });
  }

  Napi::Value ListServers(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, ipvs::kServiceRecord, false, &records)) return {};
    return StartOn<Records>(
        info.Env(), client_, [records = std::move(records)](ipvs::Client* client, Records* out) {
          std::vector<ipvs::ServiceState> services = ipvs::LoadServices(records.data(), records.size());
          Status status = client->ListServers(&services);
          if (status.ok()) *out = ipvs::StoreListing(services);
          return status;
        });
  }

  Napi::Value Get(const Napi::CallbackInfo& info) {
    Records record;
    if (!ReadRecords(info, 0, ipvs::kServiceRecord, true, &record)) return {};
    return StartOn<Records>(
        info.Env(), client_, [record = std::move(record)](ipvs::Client* client, Records* out) {
          std::vector<ipvs::ServiceState> services(1);
          Status status = client->Get(ipvs::LoadService(record.data()).id, &services.front());
          if (status.ok()) *out = ipvs::StoreListing(services);
          return status;
        });
  }

  Napi::Value Flush(const Napi::CallbackInfo& info) {
    return StartOn<Records>(info.Env(), client_,
                            [](ipvs::Client* client, Records* /*out*/) { return client->Flush(); });
  }

  Napi::Value GetInfo(const Napi::CallbackInfo& info) {
    return StartOn<Records>(info.Env(), client_, [](ipvs::Client* client, Records* out) {
      ipvs::Info answer;
      Status status = client->GetInfo(&answer);
      if (status.ok()) *out = Pack({answer.version, answer.connection_table_size});
      return status;
    });
  }

  Napi::Value GetTimeouts(const Napi::CallbackInfo& info) {
    return StartOn<Records>(info.Env(), client_, [](ipvs::Client* client, Records* out) {
      ipvs::Timeouts answer;
      Status status = client->GetTimeouts(&answer);
      if (status.ok()) *out = Pack({answer.tcp, answer.tcp_fin, answer.udp});
      return status;
    });
  }

  Napi::Value SetTimeouts(const Napi::CallbackInfo& info) {
    Records record;
    if (!ReadRecords(info, 0, kTimeoutsRecord, true, &record)) return {};
    const ipvs::Timeouts timeouts{records::Load32(record.data()), records::Load32(record.data() + 4),
                                  records::Load32(record.data() + 8)};
    return StartOn<Records>(info.Env(), client_, [timeouts](ipvs::Client* client, Records* /*out*/) {
      return client->SetTimeouts(timeouts);
    });
  }

  void Close(const Napi::CallbackInfo& /*info*/) { client_.reset(); }

  std::shared_ptr<ipvs::Client> client_;
};

}  // namespace

void InitIpvs(Napi::Env env, Napi::Object exports) {
  exports.Set("IpvsClient", IpvsClient::Define(env));
}

}  // namespace knp::binding
