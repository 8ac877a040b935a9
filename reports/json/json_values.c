#include "json_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/record/text.h"

json_t *json_of_number(double value)
{
    char buffer[TEXT_NUMBER_SIZE];

    return isfinite(value) ? json_real(value) : json_string(text_number(buffer, value, 17));
}

json_t *json_of_number_if(bool applies, double value)
{
    return applies ? json_of_number(value) : json_null();
}

json_t *json_of_text(const char *value)
{
    json_t *string;
    char *copy;

    if (value == NULL || value[0] == '\0')
        return json_null();
    string = json_string(value);
    if (string != NULL)
        return string;
    copy = strdup(value);
    if (copy == NULL)
        return NULL;
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    string = json_string(copy);
    free(copy);
    return string;
}
