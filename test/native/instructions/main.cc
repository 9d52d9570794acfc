// Work of the addon between JavaScript and the kernel, a thousand times each:
// test/native/instructions.test.ts counts the instructions of each function Measure… under callgrind.
#include <linux/if_addr.h>
#include <linux/ip_vs.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ipset/codec.h"
#include "ipset/records.h"
#include "ipvs/codec.h"
#include "ipvs/records.h"
#include "netlink/message_builder.h"
#include "netlink/message_reader.h"
#include "records/fields.h"
#include "rtnetlink/codec.h"
#include "rtnetlink/records.h"

namespace {

namespace ipset = knp::ipset;
namespace ipvs = knp::ipvs;
namespace netlink = knp::netlink;
namespace rtnetlink = knp::rtnetlink;
using knp::records::Store;
using netlink::MessageBuilder;
using Bytes = std::vector<uint8_t>;

constexpr size_t kCount = 1000;

[[noreturn]] void Stop(const std::string& reason) {
  std::fprintf(stderr, "%s\n", reason.c_str());
  std::exit(1);
}

void Check(bool ok, const char* what) {
  if (!ok) Stop(what);
}

Bytes Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Stop("cannot read " + path);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// Decodes the messages of a datagram; returns their number.
template <typename Decode>
size_t DecodeOnce(const Bytes& datagram, const Decode& decode) {
  netlink::MessageReader reader(datagram.data(), datagram.size());
  netlink::Message message;
  size_t decoded = 0;
  for (; reader.Next(&message) && message.type >= NLMSG_MIN_TYPE; decoded++) {
    const netlink::Status status = decode(message);
    Check(status.ok(), status.message.c_str());
  }
  return decoded;
}

// Decodes the messages of a datagram, from its beginning again and again, until there are enough objects.
template <typename Decode>
void DecodeMany(const Bytes& datagram, const Decode& decode) {
  for (size_t done = 0; done < kCount;) {
    const size_t decoded = DecodeOnce(datagram, decode);
    Check(decoded > 0, "no message");
    done += decoded;
  }
}

// Operation records of one layout, of which `write(record, i)` writes each.
template <typename Layout, typename Write>
Bytes RecordsOf(const Write& write) {
  Bytes records(kCount * Layout::kSize);
  for (size_t i = 0; i < kCount; i++) write(records.data() + i * Layout::kSize, i);
  return records;
}

knp::records::AddressBytes AddressOf(size_t i) {
  return {10, 1, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)};
}

void WriteRealServer(uint8_t* record, size_t i) {
  using Field = ipvs::layout::Operation;
  Store(record, Field::kVerb, static_cast<uint8_t>(ipvs::Verb::kAddRealServer));
  uint8_t* service = At(record, Field::kService);
  Store(service, ipvs::layout::Service::kFamily, 4);
  Store(service, ipvs::layout::Service::kProtocol, IPPROTO_TCP);
  Store(service, ipvs::layout::Service::kPort, 80);
  Store(service, ipvs::layout::Service::kAddress, {10, 96, 0, 1});
  uint8_t* server = At(record, Field::kArgument);
  Store(server, ipvs::layout::Server::kFamily, 4);
  Store(server, ipvs::layout::Server::kPort, 8080);
  Store(server, ipvs::layout::Server::kWeight, 1);
  Store(server, ipvs::layout::Server::kAddress, AddressOf(i));
}

// A message with an address of IPv4, and the name of its link.
Bytes AddressMessage() {
  using Field = rtnetlink::layout::Message;
  using Name = rtnetlink::layout::Reference;
  constexpr size_t kPayload = sizeof(ifaddrmsg) + size_t{2} * 8;
  constexpr size_t kLength = 10;
  Bytes bytes(Field::kSize + kPayload + Name::kSize + 12);
  Store(bytes.data(), Field::kType, RTM_NEWADDR);
  Store(bytes.data(), Field::kPayloadLength, kPayload);
  Store(bytes.data(), Field::kReferenceCount, 1);
  uint8_t* name = bytes.data() + Field::kSize + kPayload;
  Store(name, Name::kKind, 1);
  Store(name, Name::kOffset, 4);
  Store(name, Name::kLength, kLength);
  std::memcpy(name + Name::kSize, "kube-ipvs0", kLength);
  return bytes;
}

}  // namespace

// Records → messages. Each in a buffer of the size that is sent at once.
[[gnu::noinline]] void MeasureEncodeRealServers(const Bytes& records) {
  const ipvs::OperationRecords operations(records.data(), records.size());
  Bytes buffer;
  for (size_t i = 0; i < operations.size(); i++) {
    if (i % 256 == 0) buffer.clear();
    MessageBuilder builder(&buffer);
    Check(ipvs::EncodeOperation(&builder, 30, 0, operations[i]), "real server");
  }
}

[[gnu::noinline]] void MeasureEncodeMessages(const Bytes& records, const Bytes& messages) {
  Bytes buffer;
  for (const rtnetlink::Encoded& message :
       rtnetlink::LoadOperations(records.data(), records.size(), messages)) {
    MessageBuilder builder(&buffer);
    Check(rtnetlink::EncodeMessage(&builder, message), "message");
  }
}

[[gnu::noinline]] void MeasureLoadSetEntries(const Bytes& records) {
  std::vector<ipset::Operation> operations;
  Check(ipset::LoadOperations(records.data(), records.size(), &operations), "entries");
}

// Messages → records.
[[gnu::noinline]] void MeasureDecodeRealServers(const Bytes& datagram) {
  std::vector<ipvs::ServiceState> services(1);
  DecodeMany(datagram, [&](const netlink::Message& message) {
    return ipvs::DecodeServer(message, AF_INET, &services[0].servers.emplace_back());
  });
  Check(!ipvs::StoreListing(services).empty(), "listing");
}

[[gnu::noinline]] void MeasureDecodeRealServersWithoutCounters(const Bytes& datagram) {
  Bytes listing;
  ipvs::AppendService({}, &listing);
  DecodeMany(datagram, [&](const netlink::Message& message) {
    ipvs::RealServer server;
    netlink::Status status = ipvs::DecodeServer(message, AF_INET, &server);
    ipvs::AppendServer(server, 0, &listing);
    return status;
  });
}

[[gnu::noinline]] void MeasureDecodeSetEntries(const Bytes& datagram) {
  for (size_t done = 0; done < kCount;) {
    std::vector<ipset::SetState> sets;
    DecodeOnce(datagram, [&](const netlink::Message& part) { return ipset::DecodeListPart(part, &sets); });
    Check(!sets.empty() && !sets.front().entries.empty(), "no entries");
    done += sets.front().entries.size();
    Check(!ipset::StoreListing(sets).empty(), "sets");
  }
}

int main(int argc, char** argv) {
  if (argc != 2) Stop("usage: knp_instructions FOLDER_OF_CAPTURES");
  const std::string folder = std::string(argv[1]) + "/";
  MeasureEncodeRealServers(RecordsOf<ipvs::layout::Operation>(WriteRealServer));
  const Bytes message = AddressMessage();
  MeasureEncodeMessages(RecordsOf<rtnetlink::layout::Operation>([&](uint8_t* record, size_t) {
                          Store(record, rtnetlink::layout::Operation::kMessageLength, message.size());
                        }),
                        message);
  MeasureLoadSetEntries(RecordsOf<ipset::layout::Operation>([](uint8_t* record, size_t i) {
    Store(record, ipset::layout::Operation::kVerb, static_cast<uint8_t>(ipset::Verb::kAdd));
    Store(record, ipset::layout::Operation::kName, "KUBE-CLUSTER-IP");
    Store(record, ipset::layout::Operation::kAddress, AddressOf(i));
  }));
  MeasureDecodeRealServers(Read(folder + "ipvs-servers.reply"));
  MeasureDecodeRealServersWithoutCounters(Read(folder + "ipvs-servers.reply"));
  MeasureDecodeSetEntries(Read(folder + "ipset-many-1.reply"));
  return 0;
}
