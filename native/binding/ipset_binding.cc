#include <cerrno>
#include <mutex>

#include "binding/classes.h"
#include "binding/client_binding.h"
#include "ipset/client.h"
#include "ipset/library.h"
#include "ipset/records.h"

namespace knp::binding {
namespace {

using ipset::Operation;
using ipset::SetState;
using ipset::TypeSupport;
using netlink::Status;

// Operation records, and the attributes behind them, are multiples of it, in bytes.
constexpr size_t kUnit = 4;

Status Load(const Records& records, std::vector<Operation>* out) {
  if (ipset::LoadOperations(records.data(), records.size(), out)) return {};
  return Status::Errno(EINVAL, "a record that is cut short");
}

// The class IpsetClient of the addon; src/kernel/shared/addon.ts declares its methods.
class IpsetClient : public ClientBinding<IpsetClient, ipset::Client> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "IpsetClient",
           {
               InstanceMethod<&IpsetClient::Apply>("apply"),
               InstanceMethod<&IpsetClient::List>("list"),
               InstanceMethod<&IpsetClient::Get>("get"),
               InstanceMethod<&IpsetClient::Test>("test"),
               InstanceMethod<&IpsetClient::Types>("types"),
               InstanceMethod<&IpsetClient::Protocol>("protocol"),
               InstanceMethod<&IpsetClient::Library>("library"),
           });
  }

 private:
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    return ApplyBatch<std::vector<Operation>>(info, kUnit, Load);
  }

  Napi::Value Test(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, kUnit, false, &records)) return {};
    return Start<Records>(info, [records = std::move(records)](ipset::Client* client, Records* out) {
      std::vector<Operation> operation;
      Status status = Load(records, &operation);
      bool found = false;
      if (status.ok() && operation.size() != 1) status = Status::Errno(EINVAL, "not one record");
      if (status.ok()) status = client->Test(operation, &found);
      if (status.ok()) out->push_back(found ? 1 : 0);
      return status;
    });
  }

  Napi::Value Types(const Napi::CallbackInfo& info) {
    const auto list = [](ipset::Client* client, std::vector<TypeSupport>* out) {
      return client->Types(ipset::TypeNames(), out);
    };
    return StartListing<TypeSupport>(info, list, ipset::StoreTypes);
  }

  Napi::Value Protocol(const Napi::CallbackInfo& info) {
    return Start<Records>(info, [](ipset::Client* client, Records* out) {
      ipset::ProtocolVersions versions;
      Status status = client->Protocol(&versions);
      if (status.ok()) *out = {versions.least, versions.greatest};
      return status;
    });
  }

  Napi::Value Library(const Napi::CallbackInfo& info) {
    return Start<Records>(info, [](ipset::Client* /*client*/, Records* out) {
      const std::lock_guard<std::mutex> lock(ipset::LibraryMutex());
      const ipset::Library* library = nullptr;
      Status status = ipset::LoadLibrary(&library);
      if (status.ok()) out->assign(library->path.begin(), library->path.end());
      return status;
    });
  }

  Napi::Value List(const Napi::CallbackInfo& info) {
    const auto list = [](ipset::Client* client, std::vector<SetState>* out) { return client->List(out); };
    return StartListing<SetState>(info, list, ipset::StoreListing);
  }

  Napi::Value Get(const Napi::CallbackInfo& info) {
    std::string name;
    if (!ReadText(info, 0, &name)) return {};
    const auto get = [name](ipset::Client* client, std::vector<SetState>* out) {
      return client->Get(name, &out->emplace_back());
    };
    return StartListing<SetState>(info, get, ipset::StoreListing);
  }
};

}  // namespace

void InitIpset(Napi::Object exports) {
  IpsetClient::Init(exports);
}

}  // namespace knp::binding
