// The attribute reader and the message builder: written values are read again, and nonsense is never read
// beyond the bytes given. Every buffer here has exactly the size it is read with, so that AddressSanitizer
// sees one byte too many.
#include <linux/netlink.h>

#include <cstring>
#include <memory>

#include "check.h"
#include "netlink/attribute_reader.h"
#include "netlink/message_builder.h"
#include "netlink/message_reader.h"

namespace {

using knp::netlink::AttributeReader;
using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::netlink::MessageReader;
using knp::netlink::ReadError;

// A copy in memory of its own.
struct Exact {
  explicit Exact(const std::vector<uint8_t>& bytes) : data(new uint8_t[bytes.size()]), size(bytes.size()) {
    if (size > 0) std::memcpy(data.get(), bytes.data(), size);
  }
  std::unique_ptr<uint8_t[]> data;
  size_t size;
};

std::vector<uint8_t> Built() {
  std::vector<uint8_t> buffer;
  MessageBuilder builder(&buffer);
  builder.Begin(20, NLM_F_REQUEST, 7);
  builder.PutU8(1, 0x11);
  builder.PutU16(2, 0x2222);
  builder.PutU32(3, 0x33333333);
  builder.PutBigEndian16(4, 0x1234);
  builder.PutString(5, "knp");
  const size_t nested = builder.BeginNested(6 | NLA_F_NESTED);
  builder.PutU8(1, 0x66);
  builder.EndNested(nested);
  CHECK(builder.End());
  return buffer;
}

}  // namespace

TEST(BuiltAttributesReadBack) {
  const Exact bytes(Built());
  MessageReader messages(bytes.data.get(), bytes.size);
  Message message;
  CHECK(messages.Next(&message));
  CHECK_EQUAL(message.type, 20);
  CHECK_EQUAL(message.flags, NLM_F_REQUEST);
  CHECK_EQUAL(message.sequence, 7);
  ReadError error;
  AttributeReader attributes = message.Attributes(0, &error);
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.U8(), 0x11);
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.U16(), 0x2222);
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.U32(), 0x33333333);
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.BigEndian16(), 0x1234);
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.String(15), "knp");
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.type(), 6);
  AttributeReader inner = attributes.Nested();
  CHECK(inner.Next());
  CHECK_EQUAL(inner.U8(), 0x66);
  CHECK(!inner.Next());
  CHECK(!attributes.Next());
  CHECK(error.ok());
  CHECK(!messages.Next(&message));
  CHECK(!messages.malformed());
}

TEST(AMessageCutShortAnywhereIsToldAndNeverReadBeyond) {
  const std::vector<uint8_t> whole = Built();
  for (size_t size = 1; size < whole.size(); size++) {
    const Exact bytes(std::vector<uint8_t>(whole.begin(), whole.begin() + static_cast<long>(size)));
    MessageReader messages(bytes.data.get(), bytes.size);
    Message message;
    CHECK(!messages.Next(&message));
    CHECK(messages.malformed());
  }
}

TEST(AttributesCutShortAnywhereAreToldAndNeverReadBeyond) {
  const std::vector<uint8_t> whole = Built();
  for (size_t size = NLMSG_HDRLEN; size <= whole.size(); size++) {
    const Exact bytes(
        std::vector<uint8_t>(whole.begin() + NLMSG_HDRLEN, whole.begin() + static_cast<long>(size)));
    ReadError error;
    AttributeReader attributes(bytes.data.get(), bytes.size, &error);
    size_t seen = 0;
    while (attributes.Next()) {
      seen++;
      AttributeReader inner = attributes.Nested();
      while (inner.Next()) static_cast<void>(inner.U32());
    }
    CHECK(seen <= 6);
  }
}

TEST(AWrongWidthSticks) {
  std::vector<uint8_t> buffer;
  MessageBuilder builder(&buffer);
  builder.PutU8(1, 1);
  builder.PutU32(2, 2);
  builder.PutU32(3, 3);
  ReadError error;
  AttributeReader attributes(buffer.data(), buffer.size(), &error);
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.U32(), 0);  // has one byte
  CHECK(!error.ok());
  CHECK_EQUAL(error.attribute, 1);
  CHECK_EQUAL(error.size, 1);
  CHECK(!attributes.Next());
  CHECK_EQUAL(attributes.U32(), 0);
  CHECK_EQUAL(error.attribute, 1);
  CHECK(error.ToStatus().kind == FailureKind::kMalformedReply);
  CHECK_EQUAL(error.ToStatus().message, "attribute 1 of 1 bytes: unexpected width");
}

TEST(AFaultInsideANestedAttributeStopsTheOuterReader) {
  std::vector<uint8_t> buffer;
  MessageBuilder builder(&buffer);
  const size_t nested = builder.BeginNested(1);
  builder.PutU16(2, 2);
  builder.EndNested(nested);
  builder.PutU32(3, 3);
  ReadError error;
  AttributeReader attributes(buffer.data(), buffer.size(), &error);
  CHECK(attributes.Next());
  AttributeReader inner = attributes.Nested();
  CHECK(inner.Next());
  CHECK_EQUAL(inner.U64(), 0);
  CHECK(!attributes.Next());
  CHECK_EQUAL(error.attribute, 2);
}

TEST(LengthsThatLieAreTold) {
  for (const uint16_t length : {0, 1, 3, 9, 100, 65535}) {
    std::vector<uint8_t> bytes(8, 0);
    std::memcpy(bytes.data(), &length, sizeof(length));
    const Exact exact(bytes);
    ReadError error;
    AttributeReader attributes(exact.data.get(), exact.size, &error);
    CHECK(!attributes.Next());
    CHECK_EQUAL(std::string(error.reason), "length beyond the message");
  }
}

TEST(StringsNeedNoTerminatorAndHaveALimit) {
  std::vector<uint8_t> buffer;
  MessageBuilder builder(&buffer);
  builder.PutBytes(1, "abc", 3);
  builder.PutBytes(2, "a\0c", 3);
  builder.PutBytes(3, "", 0);
  builder.PutString(4, "too long");
  const Exact exact(buffer);
  ReadError error;
  AttributeReader attributes(exact.data.get(), exact.size, &error);
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.String(3), "abc");
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.String(3), "a");
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.String(3), "");
  CHECK(attributes.Next());
  CHECK_EQUAL(attributes.String(7), "");
  CHECK(!error.ok());
}

TEST(AnAttributeTooLongForItsLengthIsNotSent) {
  std::vector<uint8_t> buffer = {1, 2, 3, 4};
  MessageBuilder builder(&buffer);
  builder.Begin(1, 0, 0);
  const std::vector<uint8_t> payload(65536);
  builder.PutBytes(1, payload.data(), payload.size());
  CHECK(!builder.End());
  CHECK_EQUAL(buffer, (std::vector<uint8_t>{1, 2, 3, 4}));
}

namespace {

Message AckOf(uint16_t type, uint16_t flags, const std::vector<uint8_t>& payload) {
  Message message;
  message.type = type;
  message.flags = flags;
  message.payload = payload.data();
  message.size = payload.size();
  return message;
}

std::vector<uint8_t> Number(int32_t number, size_t zeros) {
  std::vector<uint8_t> bytes(sizeof(number) + zeros);
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

}  // namespace

TEST(AcknowledgementsThatLieAreTold) {
  for (const uint16_t type : {NLMSG_ERROR, NLMSG_DONE}) {
    const std::vector<uint8_t> positive = Number(2, 16);
    CHECK(ReadAcknowledgement(AckOf(type, 0, positive)).kind == FailureKind::kMalformedReply);
    const std::vector<uint8_t> lowest = Number(INT32_MIN, 16);
    CHECK(ReadAcknowledgement(AckOf(type, 0, lowest)).kind == FailureKind::kMalformedReply);
    const std::vector<uint8_t> tiny = {1, 2};
    CHECK(ReadAcknowledgement(AckOf(type, 0, tiny)).kind == FailureKind::kMalformedReply);
    const std::vector<uint8_t> refused = Number(-2, 0);
    CHECK(ReadAcknowledgement(AckOf(type, NLM_F_ACK_TLVS, refused)).is_errno(2));
    const std::vector<uint8_t> ipset = Number(-4097, 16);
    CHECK(ReadAcknowledgement(AckOf(type, 0, ipset)).is_errno(4097));
  }
  CHECK(ReadAcknowledgement(AckOf(NLMSG_ERROR, 0, {})).kind == FailureKind::kMalformedReply);
  CHECK(ReadAcknowledgement(AckOf(NLMSG_DONE, 0, {})).ok());
  // A request whose length puts the text far behind the message.
  std::vector<uint8_t> far = Number(-1, sizeof(nlmsghdr));
  const uint32_t length = 0xfffffffe;
  std::memcpy(far.data() + 4, &length, sizeof(length));
  CHECK(ReadAcknowledgement(AckOf(NLMSG_ERROR, NLM_F_ACK_TLVS, far)).is_errno(1));
}
