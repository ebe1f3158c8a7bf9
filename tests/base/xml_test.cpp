#include "base/text/xml.h"

#include <gtest/gtest.h>

namespace vkf::test {
namespace {

TEST(HostXmlText, EscapesWhatADocumentCannotHave) {
    EXPECT_EQ(xml_text("größe & <b> \t\n"), "größe &amp; &lt;b&gt; \t\n");
    EXPECT_EQ(xml_text(std::string("a\x01\x1b") + '\0' + "b"), "a\ufffd\ufffd\ufffdb");
    EXPECT_EQ(xml_text("\xe4\xffz"), "\ufffd\ufffdz");
    EXPECT_EQ(xml_text("\uffff\U0001f600"), "\ufffd\U0001f600");
    EXPECT_EQ(xml_text("a \"b\""), "a &quot;b&quot;");
    EXPECT_EQ(xml_text(""), "");
}

}  // namespace
}  // namespace vkf::test
