// Event files, byte by byte, and `report --tensorboard`, by a reader of its own.

#include "apps/report/event_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "apps/program.h"
#include "models/images/image_file.h"
#include "scratch.h"
#include "tests/apps/event_reader.h"

namespace vkf::test {
namespace {

namespace fs = std::filesystem;

TEST(HostEventFile, ComputesTheKnownCrcs) {
    EXPECT_EQ(crc32c(""), 0u);
    EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
    // RFC 3720, B.4
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
    EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
    std::string all;
    for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
    EXPECT_EQ(crc32c(all.substr(0, 32)), 0x46dd794eu);
    EXPECT_EQ(crc32c(all), divided_crc32c(all));
}

TEST(HostEventFile, FramesRecords) {
    std::string file;
    const std::vector<std::string> wanted{"", "a", std::string(300, '\xff'), std::string(70'000, 'x')};
    for (const std::string& data : wanted) file += tf_record(data);
    EXPECT_EQ(records_of(file), wanted);
    EXPECT_EQ(tf_record("abc").substr(0, 8), std::string("\3\0\0\0\0\0\0\0", 8));
    EXPECT_EQ(tf_record("abc").size(), 8u + 4 + 3 + 4);
    file[file.size() / 2] ^= 1;
    EXPECT_THROW(records_of(file), std::runtime_error);
}

TEST(HostEventFile, WritesTheExamplesOfProtocolBuffers) {
    ProtobufMessage number, words, outer;
    EXPECT_EQ(number.varint(1, 150).wire(), "\x08\x96\x01");
    EXPECT_EQ(words.bytes(2, "testing").wire(), "\x12\x07testing");
    EXPECT_EQ(outer.message(3, number).wire(), "\x1a\x03\x08\x96\x01");
}

TEST(HostEventFile, WritesVarintsOfAllLengths) {
    const auto round_trip = [](std::int64_t value, std::size_t bytes) {
        ProtobufMessage message;
        EXPECT_EQ(message.varint(1, value).wire().size(), 1 + bytes) << value;
        EXPECT_EQ(WireMessage(message.wire()).varint(1), value);
    };
    round_trip(0, 1);
    for (std::size_t bytes = 1; bytes < 9; ++bytes) {
        round_trip((std::int64_t{1} << (7 * bytes)) - 1, bytes);
        round_trip(std::int64_t{1} << (7 * bytes), bytes + 1);
    }
    round_trip(std::numeric_limits<std::int64_t>::max(), 9);
    round_trip(-1, 10);
    round_trip(std::numeric_limits<std::int64_t>::min(), 10);
    // Keys and lengths are varints, too.
    ProtobufMessage message;
    message.real(1, -1.5).real32(16, 0.1f).bytes(2048, std::string(200, 'y'));
    EXPECT_EQ(message.wire().size(), (1u + 8) + (2 + 4) + (3 + 2 + 200));
    const WireMessage found(message.wire());
    EXPECT_EQ(found.real(1), -1.5);
    EXPECT_EQ(found.real32(16), 0.1f);
    EXPECT_EQ(found.bytes(2048), std::string(200, 'y'));
}

/// Contents of a file of events; numbers of fields are those of TensorBoard's .proto files.
struct Events {
    std::map<std::string, std::map<std::int64_t, float>> scalars;
    std::map<std::string, std::map<std::int64_t, std::string>> texts;
    std::map<std::string, WireMessage> images;
    std::map<std::int64_t, double> times;
    std::map<std::string, std::vector<WireMessage>> hparams;  // members of HParamsPluginData

    explicit Events(const fs::path& path) {
        const std::vector<std::string> records = records_of(bytes_of(path));
        EXPECT_EQ(WireMessage(records.at(0)).bytes(3), "brain.Event:2");
        for (std::size_t i = 1; i < records.size(); ++i) {
            const WireMessage event(records[i]);
            const std::int64_t step = event.varint(2);
            EXPECT_TRUE(times.empty() || step > times.rbegin()->first) << "step " << step << " comes late";
            times[step] = event.real(1);
            for (const WireMessage& value : event.message(5).messages(1)) take(value, step);
        }
    }

private:
    void take(const WireMessage& value, std::int64_t step) {
        const std::string tag = value.bytes(1);
        if (value.has(2)) {
            EXPECT_FALSE(value.has(9)) << tag;
            EXPECT_TRUE(scalars[tag].emplace(step, value.real32(2)).second) << tag << " twice at step " << step;
            return;
        }
        if (value.has(4)) {
            images.emplace(tag, value.message(4));
            return;
        }
        const WireMessage metadata = value.message(9), plugin = metadata.message(1), tensor = value.message(8);
        EXPECT_EQ(metadata.varint(4), 2) << tag;  // DATA_CLASS_TENSOR
        EXPECT_EQ(tensor.bytes(2), "") << tag;    // shape of a single value
        if (plugin.bytes(1) == "text") {
            EXPECT_EQ(tensor.varint(1), 7) << tag;  // DT_STRING
            texts[tag][step] = tensor.bytes(8);
        } else {
            EXPECT_EQ(plugin.bytes(1), "hparams") << tag;
            EXPECT_EQ(tensor.varint(1), 1) << tag;  // DT_FLOAT
            EXPECT_EQ(tensor.bytes(4), std::string(4, '\0')) << tag;
            hparams[tag].push_back(plugin.message(2));
        }
    }
};

class ProgramTensorBoard : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (scratch.path() / name).string(); }
    void write_run(const std::string& name, const std::string& options, const std::string& lines) {
        scratch.file(name + "/train.toml", options);
        scratch.file(name + "/metrics.jsonl", lines);
    }
    void report(std::vector<std::string> words) {
        words.insert(words.begin(), "report");
        words.insert(words.end(), {"--tensorboard", path("logs"), "--quiet"});
        run_vkformer(words);
    }
    Events events(const std::string& folder) const { return Events(fs::path(path("logs")) / folder / event_file); }
    std::string refused(std::vector<std::string> words) {
        words.insert(words.begin(), {program_path(), "report"});
        words.insert(words.end(), {"--tensorboard", path("logs")});
        const Outcome outcome = run_program(words, {}, {});
        EXPECT_EQ(outcome.status, 2);
        return outcome.complaint();
    }

    static constexpr const char* event_file = "events.out.tfevents.vkformer";
    Scratch scratch;
};

TEST_F(ProgramTensorBoard, GetsScalarsTextsAndTimes) {
    write_run("a", "max-iters = 4\nlearning-rate = 1e-3\ndata = \"x y.txt\"\ndecay-lr = true\n",
              R"({"step":0,"val_loss":4.5,"run":{"start":"2026-01-31T12:00:00Z","device":"A\nB","parameters":7}})"
              "\n"
              R"({"step":0,"loss":4.25,"ms":1000})"
              "\n"
              R"({"step":1,"loss":1e300,"ms":2000,"skipped":null})"
              "\n"
              R"({"step":2,"probe":{"layers":["h.0","h.1"],"rank":{"first":[1,2],"all":[3,null]}}})"
              "\n"
              R"({"step":2,"loss":-1e-3,"ms":500,"run":{"start":"2026-02-01T00:00:00Z"}})"
              "\n"
              R"({"step":4,"val_loss":3.5})"
              "\n");
    report({path("a")});
    const Events found = events("a");
    const std::map<std::string, std::map<std::int64_t, float>> wanted{
        {"val_loss", {{0, 4.5f}, {4, 3.5f}}},
        {"loss", {{0, 4.25f}, {1, std::numeric_limits<float>::infinity()}, {2, -1e-3f}}},
        {"ms", {{0, 1000.0f}, {1, 2000.0f}, {2, 500.0f}}},
        {"rank/h.0", {{2, 3.0f}}},
        {"rank_first/h.0", {{2, 1.0f}}},
        {"rank_first/h.1", {{2, 2.0f}}}};
    EXPECT_EQ(found.scalars, wanted);
    const double start = 1769860800, resumed = 1769904000;  // `date -ud … +%s`
    EXPECT_EQ(found.times,
              (std::map<std::int64_t, double>{{0, start + 1}, {1, start + 3}, {2, resumed + 0.5}, {4, resumed + 0.5}}));
    const std::map<std::string, std::map<std::int64_t, std::string>> texts{
        {"configuration",
         {{0, "    max-iters = 4\n    learning-rate = 0.001\n    data = \"x y.txt\"\n    decay-lr = true\n"}}},
        {"run",
         {{0, "    device: A B\n    parameters: 7\n    start: 2026-01-31T12:00:00Z\n"},
          {2, "    start: 2026-02-01T00:00:00Z\n"}}}};
    EXPECT_EQ(found.texts, texts);

    const WireMessage info = found.hparams.at("_hparams_/session_start_info").at(0).message(3);
    EXPECT_EQ(info.real(5), start);
    EXPECT_FALSE(info.has(4));  // a group of its own
    std::map<std::string, WireMessage> options;
    for (const WireMessage& entry : info.messages(1)) options.emplace(entry.bytes(1), entry.message(2));
    EXPECT_EQ(options.size(), 4u);
    EXPECT_EQ(options.at("max-iters").real(2), 4);
    EXPECT_EQ(options.at("learning-rate").real(2), 1e-3);
    EXPECT_EQ(options.at("data").bytes(3), "x y.txt");
    EXPECT_EQ(options.at("decay-lr").varint(4), 1);
    const WireMessage end = found.hparams.at("_hparams_/session_end_info").at(0).message(4);
    EXPECT_EQ(end.varint(1), 1);  // STATUS_SUCCESS
    EXPECT_EQ(end.real(2), resumed + 0.5);
}

TEST_F(ProgramTensorBoard, ShowsTextsThatModelsWroteAndPictures) {
    write_run("a", "", "{\"step\":0,\"val_loss\":1,\"sample\":\"To be,\\nor\"}\n{\"step\":3,\"loss\":1}\n");
    write_png(path("map.png"), Image(3, 2));
    const std::string png = bytes_of(path("map.png"));
    report({path("a"), "--picture", path("map.png")});
    const Events found = events("a");
    EXPECT_EQ(found.texts.at("sample").at(0), "    To be,\n    or");
    const WireMessage& image = found.images.at("map.png");
    EXPECT_EQ(image.varint(1), 2);  // height
    EXPECT_EQ(image.varint(2), 3);  // width
    EXPECT_EQ(image.varint(3), 3);  // RGB
    EXPECT_EQ(image.bytes(4), png);

    scratch.file("map.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    expect_holds(refused({path("a"), "--overwrite", "--picture", path("map.svg")}),
                 "map.svg is image/svg+xml, which TensorBoard does not show");
    expect_holds(refused({path("a"), "--overwrite", "--picture", path("a/train.toml")}), "train.toml: is no picture");
    scratch.file("cut.png", png.substr(0, png.size() / 2));
    expect_holds(refused({path("a"), "--overwrite", "--picture", path("cut.png")}), "cut.png: ");
    write_run("b", "", "{\"step\":0,\"loss\":1}\n");
    expect_holds(refused({path("a"), path("b"), "--overwrite", "--picture", path("map.png")}), "wanted one run");
}

TEST_F(ProgramTensorBoard, NamesRunsByTheirFoldersAndSeedsByTheirGroup) {
    const std::string line = R"({"step":0,"loss":1})"
                             "\n";
    write_run("s/standard/1", "seed = 1\nmax-iters = 3\n", line);
    write_run("s/standard/2", "seed = 2\nmax-iters = 3\n", line);
    write_run("s/old", "", line);
    report({path("s/standard/1") + "/", path("s/old/.") + "/../standard/2", path("s/old")});
    for (const char* folder : {"standard/1", "standard/2"}) {
        const Events found = events(folder);
        EXPECT_EQ(found.hparams.size(), 1u);  // the run has not ended
        expect_holds(found.hparams.at("_hparams_/session_start_info").at(0).message(3).bytes(4), "(2 seeds)");
    }
    const Events old = events("old");
    EXPECT_TRUE(old.hparams.empty());
    EXPECT_TRUE(old.texts.empty());
    EXPECT_EQ(old.times, (std::map<std::int64_t, double>{{0, 0.0}}));
    EXPECT_FALSE(fs::exists(path("page.html")));
}

TEST_F(ProgramTensorBoard, ReplacesNothingUnasked) {
    write_run("a", "seed = 1\n", "{\"step\":0,\"loss\":1}\n");
    write_run("b", "seed = 2\n", "{\"step\":0,\"loss\":1}\n");
    report({path("a")});
    scratch.file("a/metrics.jsonl", "{\"step\":0,\"loss\":2}\n");
    expect_holds(refused({path("b"), path("a"), "--out", path("p.html")}), "is there already; --overwrite");
    EXPECT_FALSE(fs::exists(path("logs/b")));
    EXPECT_FALSE(fs::exists(path("p.html")));
    EXPECT_EQ(events("a").scalars["loss"][0], 1);
    report({path("a"), "--overwrite"});
    EXPECT_EQ(events("a").scalars["loss"][0], 2);
    expect_holds(refused({path("a"), path("b/../a"), "--overwrite"}), "named twice");
    scratch.file("b/metrics.jsonl", "{\"step\":9007199254740994,\"loss\":2}\n");
    expect_holds(refused({path("b")}), "wanted at most 2^53");
    const Outcome outcome = run_program({program_path(), "report", path("a")}, {}, {});
    EXPECT_EQ(outcome.status, 2);
    expect_holds(outcome.complaint(), "wanted --out, --plots, --csv or --tensorboard");
}

}  // namespace
}  // namespace vkf::test
