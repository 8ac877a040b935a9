/* Tables of a run's circumstances: tool, candidate, device, limits, time by phase. */
#include "json_fields.h"

static const char *source_word(int i)
{
    return peaks_source_name((enum peaks_source)i);
}

static const struct names source_names = {NULL, source_word, PEAKS_COUNT};

/* ---- Tool, candidate, device ---- */

static const struct field tool_fields[] = {
    FIELD(struct result, STRING, "version", version, NULL),
    FIELD(struct result, STRING, "git", git, NULL),
    FIELD_END,
};
const struct record tool_record = {.fields = tool_fields};

static const struct field candidate_fields[] = {
    FIELD(struct result, TEXT, "path", candidate_path, NULL),
    FIELD(struct result, TEXT, "sha256", candidate_sha256, NULL),
    FIELD(struct result, STRING, "language", language, NULL),
    FIELD(struct result, NUMBER, "build_seconds", build_seconds, NULL),
    FIELD(struct result, BOOL, "object_kept", object_kept, "the object of an earlier run was used"),
    FIELD_END,
};
const struct record candidate_record = {.fields = candidate_fields};

static bool is_calibrated(const void *record)
{
    return ((const struct peaks *)record)->calibrated[0] != '\0';
}

static const struct field calibrated_fields[] = {
    FIELD(struct peaks, TEXT, "date", calibrated, "UTC", .filled = true),
    FIELD(struct peaks, TEXT, "sha256", sha256, "of the calibration file; null: measured for this run only"),
    FIELD_END,
};
static const struct record calibrated_record = {.fields = calibrated_fields};

static const struct field peaks_fields[] = {
    FIELD(struct peaks, NUMBER, "bandwidth_gbps", bandwidth_gbps, NULL),
    FIELD(struct peaks, POSITIVE, "measured_gbps", measured_gbps, "copy bandwidth of the calibration"),
    FIELD(struct peaks, NUMBER, "tflops", tflops, "for the problem's dtype"),
    FIELD(struct peaks, NAME, "source", source, NULL, .names = &source_names),
    FIELD(struct peaks, NUMBER, "launch_ms", launch_ms, "time of an empty call"),
    FIELD_ITSELF(RECORD, "calibrated", NULL, .record = &calibrated_record, .when = is_calibrated),
    FIELD(struct peaks, NOT, "comparable", incomparable, "the machine was as fast as its calibration"),
    FIELD(struct peaks, TEXT, "not_comparable", why, "why times have no scores"),
    FIELD_END,
};
static const struct record peaks_record = {
    .about = "ceilings of the hardware", .size = sizeof(struct peaks), .fields = peaks_fields};

static const struct field device_fields[] = {
    FIELD(struct result, TEXT, "name", device, NULL),
    FIELD(struct result, TEXT, "driver", driver, NULL),
    FIELD(struct result, RECORD, "peaks", peaks, NULL, .record = &peaks_record),
    FIELD_END,
};
const struct record device_record = {.fields = device_fields};

/* ---- Limits, contention, time ---- */

static const struct field limits_fields[] = {
    FIELD(struct limits, NUMBER, "timeout", timeout, "least time limit of one call, seconds"),
    FIELD(struct limits, NUMBER, "memory", memory, "bytes, over all processes of the candidate"),
    FIELD(struct limits, COUNT, "tasks", tasks, "processes and threads"),
    FIELD(struct limits, POSITIVE, "budget", budget, "of the whole run, seconds"),
    FIELD_END,
};
const struct record limits_record = {
    .about = "limits of the candidate", .size = sizeof(struct limits), .fields = limits_fields};

static const struct field company_fields[] = {
    FIELD(struct company, BOOL, "shared", shared, "another process used the device"),
    FIELD(struct company, BOOL, "disbelieved", disbelieved,
          "the candidate's process reports shorter times than the judge's clock allows"),
    FIELD(struct company, COUNT, "most", most, "maximum number of other processes at once; 0: not counted"),
    FIELD(struct company, COUNT, "unproved", unproved,
          "configurations where two clocks disagree without proof that the candidate is the cause"),
    FIELD(struct company, POSITIVE, "least_mhz", least_mhz, "lowest clock of the GPU's multiprocessors"),
    FIELD(struct company, TEXT, "held_back", held_back, "why its clocks were throttled"),
    FIELD_END,
};
const struct record company_record = {.about = "contention for the device while times were taken",
                                      .size = sizeof(struct company),
                                      .fields = company_fields};

static const struct field phase_fields[] = {
    FIELD(struct phase_seconds, NUMBER, "open", open, "problem, contract and device; importing a task"),
    FIELD(struct phase_seconds, NUMBER, "build", build, NULL),
    FIELD(struct phase_seconds, NUMBER, "draw", draw, NULL),
    FIELD(struct phase_seconds, NUMBER, "start", start, NULL),
    FIELD(struct phase_seconds, NUMBER, "map", map, "allocating tensors and mapping them into processes"),
    FIELD(struct phase_seconds, NUMBER, "fill", fill, NULL),
    FIELD(struct phase_seconds, NUMBER, "run", run, NULL),
    FIELD(struct phase_seconds, NUMBER, "judge", judge, NULL),
    FIELD(struct phase_seconds, NUMBER, "witness", witness, NULL),
    FIELD(struct phase_seconds, NUMBER, "time", time, NULL),
    FIELD(struct phase_seconds, NUMBER, "stop", stop, "ending the candidate's processes"),
    FIELD(struct phase_seconds, NUMBER, "baseline", baseline, "timing the baseline beside the candidate"),
    FIELD(struct phase_seconds, NUMBER, "calibrate", calibrate, "measuring or checking the ceilings"),
    FIELD(struct phase_seconds, NUMBER, "explain", explain, "searching the simplest failure and the rule"),
    FIELD(struct phase_seconds, NUMBER, "cover", cover, "building and calling the instrumented candidate"),
    FIELD(struct phase_seconds, NUMBER, "other", other, NULL),
    FIELD_END,
};
const struct record phase_record = {
    .about = "They add up to `seconds`.", .size = sizeof(struct phase_seconds), .fields = phase_fields};

static const struct field baseline_fields[] = {
    FIELD(struct result_baseline, TEXT, "path", path, NULL),
    FIELD(struct result_baseline, TEXT, "sha256", sha256, NULL),
    FIELD(struct result_baseline, BOOL, "own", own, "it is the problem's own baseline"),
    FIELD_END,
};
const struct record run_baseline_record = {.size = sizeof(struct result_baseline), .fields = baseline_fields};

/* ---- Coverage ---- */

static const struct field covered_fields[] = {
    FIELD(struct result_coverage, COUNT, "strength", strength, "2: pairs, 3: triples"),
    FIELD(struct result_coverage, WHOLE, "covered", covered, NULL),
    FIELD(struct result_coverage, WHOLE, "possible", possible, NULL),
    FIELD(struct result_coverage, WHOLE, "excluded_by_caps", excluded_by_caps, NULL),
    FIELD(struct result_coverage, WHOLE, "excluded_by_contract", excluded_by_contract, NULL),
    FIELD_END,
};
static const struct record covered_record = {.size = sizeof(struct result_coverage),
                                             .fields = covered_fields};

static bool has_list_pairs(const void *record)
{
    return ((const struct result *)record)->list_pairs.strength > 0;
}

static bool has_list_classes(const void *record)
{
    return ((const struct result *)record)->list_classes.strength > 0;
}

/* Coverage of the set, and separately of its choices and list values. */
static const struct field coverage_fields[] = {
    FIELD(struct result, RECORD, NULL, coverage, NULL, .record = &covered_record),
    FIELD(struct result, RECORD, "list_pairs", list_pairs, "of choices and list values",
          .record = &covered_record, .when = has_list_pairs),
    FIELD(struct result, RECORD, "list_classes", list_classes, "of choices and list values",
          .record = &covered_record, .when = has_list_classes),
    FIELD_END,
};
const struct record coverage_record = {.about = "combinations of axis classes that the unseen set covers",
                                       .fields = coverage_fields};
