#ifndef UNSEEN_TESTS_SUITES_H
#define UNSEEN_TESTS_SUITES_H

#include <check.h>

Suite *gen_suite(void);
Suite *contract_suite(void);
TCase *contract_draw_case(void); /* parts of the contract suite */
TCase *contract_formats_case(void);
Suite *score_suite(void);
TCase *scores_case(void); /* part of it */
Suite *compare_suite(void);
Suite *calibrate_suite(void);
Suite *session_suite(void);
TCase *times_again_case(void); /* parts of session */
TCase *retry_case(void);
TCase *timeout_budget_case(void);
TCase *enclosure_cache_case(void);
TCase *judge_alone_case(void);
TCase *region_image_case(void);
TCase *ahead_case(void);
TCase *kept_case(void);
TCase *sibling_case(void);
TCase *fingerprints_case(void);
Suite *house_suite(void);
TCase *share_parts_case(void); /* parts of it */
TCase *share_again_case(void);
Suite *history_suite(void);
Suite *reports_suite(void);
Suite *child_suite(void);
Suite *launch_suite(void);
Suite *interpreter_suite(void);
Suite *forbid_suite(void);
Suite *batch_suite(void);
TCase *batch_list_case(void); /* parts of it */
TCase *batch_line_case(void);
TCase *batch_queue_case(void);
TCase *batch_lane_case(void);
Suite *inspect_suite(void);
TCase *inspect_hostile_case(void); /* parts of it */
TCase *inspect_bugs_case(void);
Suite *build_suite(void);
TCase *planted_case(void); /* parts of it */
TCase *objects_case(void);
Suite *reference_suite(void);
Suite *error_suite(void);
Suite *fill_suite(void);
Suite *judge_suite(void);
Suite *forms_suite(void);
Suite *oracle_task_suite(void);
TCase *exact_case(void); /* parts of it */
TCase *kept_answers_case(void);
TCase *kept_imports_case(void);
TCase *oracle_session_case(void);
Suite *cli_suite(void);
Suite *python_suite(void);
TCase *python_lease_case(void); /* part of it */
TCase *python_poison_case(void);
TCase *python_solutions_case(void);
TCase *python_own_case(void);
Suite *harden_suite(void);
Suite *task_suite(void);
Suite *importing_suite(void);
Suite *clue_service_suite(void);
TCase *task_made_case(void); /* parts of it */
TCase *task_foreign_case(void);
Suite *prove_suite(void);
Suite *own_suite(void);
Suite *faults_suite(void);
Suite *docs_suite(void);
Suite *battery_host_suite(void);
Suite *battery_cuda_suite(void);
Suite *gpu_suite(void);
Suite *honest_suite(void);
Suite *mutants_suite(void);
Suite *honest_cuda_suite(void);
Suite *condition_suite(void);
Suite *bugs_suite(void);
Suite *bugs_compile_suite(void);
Suite *derived_suite(void);
Suite *explain_suite(void);
Suite *pattern_suite(void);
Suite *values_suite(void);
Suite *shrink_suite(void);
Suite *plant_suite(void);
Suite *busy_suite(void);
Suite *zoo_suite(void);
Suite *zoo_cuda_suite(void);
Suite *fuzz_suite(void);
Suite *lost_suite(void);
TCase *processors_case(void); /* parts of the busy suite */
TCase *lease_case(void);
TCase *room_case(void);
TCase *neighbours_case(void);
TCase *starved_case(void);
TCase *plant_code_case(void);            /* part of the plant suite */
void explain_random_tests(TCase *tcase); /* part of the explain suite */
void explain_plain_tests(TCase *tcase);  /* part of the explain suite */
void explain_bugs_tests(TCase *tcase);
void explain_words_tests(TCase *tcase); /* part of the explain suite */
void repeats_tests(TCase *tcase);
void statement_tests(TCase *tcase);
void one_sided_tests(TCase *tcase);
void plain_form_tests(TCase *tcase);
void coded_tests(TCase *tcase);
void gpu_probe_tests(TCase *tcase); /* parts of the gpu suite */
TCase *gpu_clock_case(void);
TCase *gpu_state_case(void);
TCase *gpu_forbid_case(void);
TCase *gpu_python_case(void);
TCase *own_gpu_case(void);
TCase *gpu_contract_case(void);
TCase *gpu_values_case(void);
TCase *gpu_forms_case(void);
TCase *gpu_room_case(void);
TCase *forms_session_case(void); /* part of the forms suite */

#endif
