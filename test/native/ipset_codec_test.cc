// Listings of sets as the kernel made them, against the output of ipset(8) (ipset-replies.txt); requests
// against those of ipset(8).
#include <arpa/inet.h>
#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "check.h"
#include "ipset/codec.h"
#include "ipset/records.h"
#include "messages.h"
#include "netlink/message_builder.h"
#include "records/fields.h"

namespace {

namespace layout = knp::ipset::layout;
using knp::ipset::DecodeListPart;
using knp::ipset::Entry;
using knp::ipset::SetState;
using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::netlink::Status;
using knp::records::Load;
using knp::test::Capture;
using knp::test::MessagesOf;

// An attribute with a number of 4 bytes or less, and what is kept of a hash: bucketsize, initval, memsize.
constexpr size_t kNumber = layout::Attribute::kSize + 4;
constexpr size_t kHashRest = 3 * kNumber;

std::vector<SetState> Decode(std::initializer_list<const char*> captures) {
  std::vector<SetState> sets;
  for (const char* name : captures) {
    const std::vector<uint8_t> bytes = Capture(name);
    for (const Message& message : MessagesOf(bytes)) CHECK(DecodeListPart(message, &sets).ok());
  }
  return sets;
}

// Begins a message of a listing, with a set of the type hash:ip.
void BeginListedSet(MessageBuilder* builder) {
  builder->Begin(NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_LIST, 0, 1);
  builder->PutHeader(nfgenmsg{});
  builder->PutString(IPSET_ATTR_SETNAME, "a");
  builder->PutString(IPSET_ATTR_TYPENAME, "hash:ip");
}

SetState DecodeOne(const char* capture) {
  const std::vector<SetState> sets = Decode({capture});
  CHECK_EQUAL(sets.size(), size_t{1});
  return sets.empty() ? SetState{} : sets.front();
}

std::string Address(const Entry& entry, const knp::ipset::AddressBytes& bytes) {
  char text[INET6_ADDRSTRLEN] = "?";
  inet_ntop(entry.family, bytes.data(), text, sizeof(text));
  return text;
}

// Every field that the entry has, by its name.
std::string Show(const Entry& entry) {
  std::string text;
  const auto add = [&](knp::ipset::EntryField field, const char* name, const std::string& value) {
    if ((entry.fields & field) != 0) text += (text.empty() ? "" : " ") + std::string(name) + value;
  };
  add(knp::ipset::kAddress, "", Address(entry, entry.address));
  add(knp::ipset::kPrefix, "/", std::to_string(entry.prefix));
  add(knp::ipset::kProtocol, "protocol ", std::to_string(entry.protocol));
  add(knp::ipset::kPort, "port ", std::to_string(entry.port));
  add(knp::ipset::kAddress2, "", Address(entry, entry.address2));
  add(knp::ipset::kPrefix2, "/", std::to_string(entry.prefix2));
  add(knp::ipset::kNoMatch, "nomatch", "");
  return text;
}

// The entries of a captured set, sorted, one after another.
std::string EntriesOf(const char* capture) {
  std::vector<std::string> lines;
  for (const Entry& entry : DecodeOne(capture).entries) lines.push_back(Show(entry));
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return text;
}

}  // namespace

TEST(IpsetHeaderOfAHash) {
  const knp::ipset::SetHeader header = DecodeOne("ipset-ipport4.reply").header;
  CHECK_EQUAL(header.name, "ipport4");
  CHECK_EQUAL(header.type, "hash:ip,port");
  CHECK_EQUAL(header.family, AF_INET);
  CHECK_EQUAL(header.revision, 6);
  CHECK_EQUAL(header.parameters.hash_size, 2048U);
  CHECK_EQUAL(header.parameters.max_elements, 65536U);
  CHECK_EQUAL(header.references, 0U);
  CHECK(header.has_elements);
  CHECK_EQUAL(header.elements, 4U);
  CHECK(!header.has_ports);
  CHECK(!header.extended);
}

TEST(IpsetHeaderOfOtherFamiliesAndTypes) {
  const knp::ipset::SetHeader six = DecodeOne("ipset-ip6.reply").header;
  CHECK_EQUAL(six.family, AF_INET6);
  CHECK_EQUAL(six.parameters.max_elements, 17U);
  const knp::ipset::SetHeader ports = DecodeOne("ipset-ports.reply").header;
  CHECK_EQUAL(ports.type, "bitmap:port");
  CHECK_EQUAL(ports.family, AF_UNSPEC);
  CHECK(ports.has_ports);
  CHECK_EQUAL(ports.parameters.port_from, 30000);
  CHECK_EQUAL(ports.parameters.port_to, 32767);
  CHECK_EQUAL(DecodeOne("ipset-empty.reply").entries.size(), size_t{0});
  CHECK(DecodeOne("ipset-extended.reply").header.extended);
  // Member of a list:set.
  CHECK_EQUAL(DecodeOne("ipset-ip4.reply").header.references, 1U);
}

TEST(IpsetHeaderAlone) {
  const SetState set = DecodeOne("ipset-header.reply");
  CHECK_EQUAL(set.header.name, "ip4");
  CHECK_EQUAL(set.header.type, "hash:ip");
  CHECK_EQUAL(set.header.elements, 2U);
  CHECK_EQUAL(set.entries.size(), size_t{0});
}

TEST(IpsetEntriesOfEveryTypeThatIsWritten) {
  CHECK_EQUAL(EntriesOf("ipset-ip4.reply"), "10.0.0.1; 10.0.0.2");
  CHECK_EQUAL(EntriesOf("ipset-ip6.reply"), "fd00::1");
  CHECK_EQUAL(EntriesOf("ipset-net4.reply"), "10.0.0.0 /8; 10.1.0.0 /16 nomatch; 10.2.3.4 /32");
  CHECK_EQUAL(EntriesOf("ipset-net6.reply"), "fd00:: /32; fd01::1 /128");
  CHECK_EQUAL(EntriesOf("ipset-ipport4.reply"),
              "10.96.0.10 protocol 17 port 53; 10.96.0.10 protocol 6 port 53; "
              "10.96.0.11 protocol 132 port 9999; 10.96.0.12 protocol 1 port 2048");
  CHECK_EQUAL(EntriesOf("ipset-ipport6.reply"), "fd00::1 protocol 6 port 443");
  CHECK_EQUAL(EntriesOf("ipset-ipportip4.reply"), "10.0.0.1 protocol 6 port 80 10.0.0.1");
  CHECK_EQUAL(EntriesOf("ipset-ipportip6.reply"), "fd00::1 protocol 17 port 80 fd00::2");
  CHECK_EQUAL(EntriesOf("ipset-ipportnet4.reply"),
              "10.0.0.1 protocol 6 port 80 10.0.0.0 /8; 10.0.0.1 protocol 6 port 80 10.1.2.3 /32");
  CHECK_EQUAL(EntriesOf("ipset-ipportnet6.reply"), "fd00::1 protocol 6 port 80 fd00:: /64");
  CHECK_EQUAL(EntriesOf("ipset-ports.reply"), "port 30080; port 32767");
}

namespace {

// The attributes without a field: `type:value`, in their order.
std::string ShowRest(const knp::ipset::Rest& rest) {
  std::string text;
  for (size_t at = 0; at + 4 <= rest.size();) {
    const size_t length = Load(&rest[at], layout::Attribute::kLength);
    const std::vector<uint8_t> value(&rest[at + 4], &rest[at + 4] + length);
    text += (text.empty() ? "" : " ") + std::to_string(Load(&rest[at], layout::Attribute::kType)) + ":";
    for (const uint8_t byte : value) {
      const char digits[] = "0123456789abcdef";
      text += {digits[byte >> 4], digits[byte & 15]};
    }
    at += 4 + knp::netlink::NlaAlign(length);
  }
  return text;
}

std::string RestOfFirst(const char* capture) {
  const SetState set = DecodeOne(capture);
  return set.entries.empty() ? "no entry" : ShowRest(set.entries.front().rest);
}

}  // namespace

TEST(IpsetAttributesWithoutAFieldAreKept) {
  CHECK_EQUAL(RestOfFirst("ipset-ip4.reply"), "");
  CHECK_EQUAL(RestOfFirst("ipset-net4.reply"), "");
  CHECK_EQUAL(RestOfFirst("ipset-macs.reply"), "17:010203040506");  // IPSET_ATTR_ETHER
  CHECK_EQUAL(RestOfFirst("ipset-ifaces.reply"), "23:6c6f00");      // IPSET_ATTR_IFACE
  CHECK_EQUAL(RestOfFirst("ipset-marks.reply"), "10:00000063");     // IPSET_ATTR_MARK
  CHECK_EQUAL(RestOfFirst("ipset-list.reply"), "18:69703400");      // IPSET_ATTR_NAME
  const std::string extended = RestOfFirst("ipset-extended.reply");
  for (const char* part : {"6:", "24:0000000000000002", "25:0000000000000001", "26:68656c6c6f00", "27:"}) {
    CHECK(extended.find(part) != std::string::npos);
  }
  // IPSET_ATTR_BUCKETSIZE, _INITVAL and _MEMSIZE of a hash; a list has no other than the last.
  const std::string chosen = ShowRest(DecodeOne("ipset-ipport4.reply").header.rest);
  for (const char* part : {"21:", "17:", "26:"}) CHECK(chosen.find(part) != std::string::npos);
  CHECK_EQUAL(DecodeOne("ipset-ports.reply").header.rest.size(), kNumber);
  CHECK(ShowRest(DecodeOne("ipset-extended.reply").header.rest).find("6:00000258") != std::string::npos);
}

TEST(IpsetRestIsStoredBehindItsRecord) {
  const std::vector<uint8_t> records =
      knp::ipset::StoreListing(Decode({"ipset-macs.reply", "ipset-ip4.reply"}));
  const uint8_t* entry = records.data() + layout::Set::kSize + kHashRest;
  CHECK_EQUAL(Load(records.data(), layout::Set::kAttributes) * 4, kHashRest);
  CHECK_EQUAL(Load(entry, layout::Entry::kAttributes), 3);
  const uint8_t* next = entry + layout::Entry::kSize + 12;
  CHECK_EQUAL(Load(next, layout::Set::kName), "ip4");
  CHECK(records.data() + records.size() == next + layout::Set::kSize + kHashRest + 2 * layout::Entry::kSize);
}

TEST(IpsetMoreThanARecordHasRoomForIsMalformed) {
  std::vector<uint8_t> message;
  MessageBuilder builder(&message);
  BeginListedSet(&builder);
  const size_t data = builder.BeginNested(IPSET_ATTR_DATA);
  const std::vector<uint8_t> value(knp::ipset::kLongestRest);
  builder.PutBytes(99, value.data(), value.size());
  builder.EndNested(data);
  CHECK(builder.End());
  std::vector<SetState> sets;
  CHECK(DecodeListPart(MessagesOf(message).front(), &sets).kind == FailureKind::kMalformedReply);
}

TEST(IpsetEntriesOfOtherTypesAreReadAsFarAsUnderstood) {
  CHECK_EQUAL(EntriesOf("ipset-extended.reply"), "10.0.0.1 protocol 6 port 80");
  CHECK_EQUAL(EntriesOf("ipset-addresses.reply"), "10.0.0.7");
  CHECK_EQUAL(EntriesOf("ipset-ifaces.reply"), "10.0.0.0 /8");
  CHECK_EQUAL(EntriesOf("ipset-marks.reply"), "10.0.0.1");
  CHECK_EQUAL(EntriesOf("ipset-macs.reply"), "");
  CHECK_EQUAL(DecodeOne("ipset-macs.reply").entries.size(), size_t{1});
  CHECK_EQUAL(DecodeOne("ipset-list.reply").entries.size(), size_t{1});
}

TEST(IpsetPartsOfOneSetAreMerged) {
  const std::vector<SetState> sets = Decode({"ipset-ip6.reply", "ipset-many-1.reply", "ipset-many-2.reply"});
  CHECK_EQUAL(sets.size(), size_t{2});
  CHECK_EQUAL(sets.back().header.name, "many");
  CHECK_EQUAL(sets.back().entries.size(), size_t{300});
  CHECK_EQUAL(sets.back().header.elements, 300U);
}

TEST(IpsetPartWithoutABeginningIsTold) {
  const std::vector<uint8_t> part = Capture("ipset-many-2.reply");
  std::vector<SetState> sets;
  CHECK(DecodeListPart(MessagesOf(part).front(), &sets).kind == FailureKind::kMalformedReply);
  CHECK(sets.empty());
  sets = Decode({"ipset-ip4.reply"});
  CHECK(DecodeListPart(MessagesOf(part).front(), &sets).kind == FailureKind::kMalformedReply);
  CHECK_EQUAL(sets.front().entries.size(), size_t{2});
}

TEST(IpsetRefusalHasTheNumber) {
  const std::vector<uint8_t> bytes = Capture("netlink-refused.reply");
  CHECK(ReadAcknowledgement(MessagesOf(bytes).front()).is_errno(ENOENT));
  const std::vector<uint8_t> text = Capture("netlink-refused-with-text.reply");
  const Status status = ReadAcknowledgement(MessagesOf(text).front());
  CHECK(status.is_errno(EOPNOTSUPP));
  CHECK_EQUAL(status.message, "Unknown device type");
  for (const char* good : {"netlink-acknowledged.reply", "netlink-done.reply"}) {
    const std::vector<uint8_t> reply = Capture(good);
    CHECK(ReadAcknowledgement(MessagesOf(reply).front()).ok());
  }
}

// As ipset(8) sends it, but for the version of the interface: the oldest is enough for us.
TEST(IpsetListingIsAskedForAsTheToolDoes) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  CHECK(knp::ipset::EncodeListSet(&builder, "empty"));
  std::vector<uint8_t> expected = knp::test::WithSenderOf(Capture("ipset-list-set.request"), request);
  constexpr size_t kVersion = NLMSG_HDRLEN + sizeof(nfgenmsg) + sizeof(nlattr);
  CHECK_EQUAL(expected[kVersion], IPSET_PROTOCOL);
  expected[kVersion] = IPSET_PROTOCOL_MIN;
  CHECK_EQUAL(request, expected);

  request.clear();
  CHECK(knp::ipset::EncodeListHeaders(&builder));
  expected = knp::test::WithSenderOf(Capture("ipset-list-headers.request"), request);
  expected[kVersion] = IPSET_PROTOCOL_MIN;
  CHECK_EQUAL(request, expected);
}

TEST(IpsetListingBecomesRecords) {
  const std::vector<uint8_t> records =
      knp::ipset::StoreListing(Decode({"ipset-net6.reply", "ipset-empty.reply"}));
  CHECK_EQUAL(records.size(), 2 * (layout::Set::kSize + kHashRest) + 2 * layout::Entry::kSize);
  CHECK_EQUAL(Load(records.data(), layout::Set::kFamily), 6);
  CHECK_EQUAL(Load(records.data(), layout::Set::kEntries), 2);
  CHECK_EQUAL(Load(records.data(), layout::Set::kName), "net6");
  CHECK_EQUAL(Load(records.data(), layout::Set::kType), "hash:net");
  const uint8_t* entry = records.data() + layout::Set::kSize + kHashRest;
  CHECK_EQUAL(Load(entry, layout::Entry::kFields), knp::ipset::kAddress | knp::ipset::kPrefix);
}

namespace {

// The tool asks without an acknowledgement, and with the newest version of the interface.
std::vector<uint8_t> AsWeAsk(const char* capture, const std::vector<uint8_t>& request) {
  std::vector<uint8_t> expected = knp::test::WithSenderOf(Capture(capture), request);
  constexpr size_t kFlags = 6;
  constexpr size_t kVersion = NLMSG_HDRLEN + sizeof(nfgenmsg) + sizeof(nlattr);
  expected[kFlags] |= NLM_F_ACK;
  expected[kVersion] = IPSET_PROTOCOL_MIN;
  return expected;
}

}  // namespace

TEST(IpsetRevisionsOfATypeAreAskedForAndRead) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  CHECK(knp::ipset::EncodeType(&builder, "hash:ip", AF_INET));
  CHECK_EQUAL(request, AsWeAsk("ipset-type.request", request));
  const std::vector<uint8_t> reply = Capture("ipset-type.reply");
  knp::ipset::TypeSupport type;
  CHECK(DecodeType(MessagesOf(reply).front(), &type).ok());
  CHECK_EQUAL(type.name, "hash:ip");
  CHECK_EQUAL(type.least_revision, 0);
  CHECK_EQUAL(type.greatest_revision, 5);
  const std::vector<uint8_t> record = knp::ipset::StoreTypes({type});
  CHECK_EQUAL(record.size(), layout::Type::kSize);
  CHECK_EQUAL(Load(record.data(), layout::Type::kName), "hash:ip");
  CHECK_EQUAL(Load(record.data(), layout::Type::kGreatestRevision), 5);
  const std::vector<uint8_t> other = Capture("ipset-protocol.reply");
  CHECK(DecodeType(MessagesOf(other).front(), &type).kind == FailureKind::kMalformedReply);
}

TEST(IpsetVersionsOfTheInterfaceAreAskedForAndRead) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  CHECK(knp::ipset::EncodeProtocol(&builder));
  CHECK_EQUAL(request, AsWeAsk("ipset-protocol.request", request));
  const std::vector<uint8_t> reply = Capture("ipset-protocol.reply");
  knp::ipset::ProtocolVersions versions;
  CHECK(DecodeProtocol(MessagesOf(reply).front(), &versions).ok());
  CHECK_EQUAL(versions.least, IPSET_PROTOCOL_MIN);
  CHECK_EQUAL(versions.greatest, IPSET_PROTOCOL);
}

TEST(IpsetAttributeOfAnotherWidthIsMalformed) {
  constexpr uint16_t kTypes[] = {IPSET_ATTR_TIMEOUT, IPSET_ATTR_ETHER, IPSET_ATTR_BYTES, IPSET_ATTR_SKBQUEUE};
  for (const uint16_t type : kTypes) {
    std::vector<uint8_t> message;
    MessageBuilder builder(&message);
    BeginListedSet(&builder);
    const size_t entries = builder.BeginNested(IPSET_ATTR_ADT);
    const size_t entry = builder.BeginNested(IPSET_ATTR_DATA);
    const std::vector<uint8_t> value(5);
    builder.PutBytes(type, value.data(), value.size());
    builder.EndNested(entry);
    builder.EndNested(entries);
    CHECK(builder.End());
    std::vector<SetState> sets;
    CHECK(DecodeListPart(MessagesOf(message).front(), &sets).kind == FailureKind::kMalformedReply);
  }
}

TEST(IpsetOperationRecordsHaveAttributesBehindThem) {
  using Field = layout::Operation;
  std::vector<uint8_t> records(2 * Field::kSize + 8);
  knp::records::Store(records.data(), Field::kVerb, 2);
  knp::records::Store(records.data(), Field::kAttributes, 2);
  knp::records::Store(records.data(), Field::kName, "a");
  uint8_t* second = records.data() + Field::kSize + 8;
  knp::records::Store(second, Field::kStrict, 1);
  knp::records::Store(second, Field::kName, "b");
  std::vector<knp::ipset::Operation> operations;
  CHECK(knp::ipset::LoadOperations(records.data(), records.size(), &operations));
  CHECK_EQUAL(operations.size(), size_t{2});
  CHECK_EQUAL(operations.front().entry.rest.size(), size_t{8});
  CHECK_EQUAL(operations.back().set.name, "b");
  CHECK(operations.back().strict && operations.back().entry.rest.empty());
  for (const size_t size : {Field::kSize - 4, Field::kSize + 4, records.size() - 4}) {
    operations.clear();
    CHECK(!knp::ipset::LoadOperations(records.data(), size, &operations));
  }
}
