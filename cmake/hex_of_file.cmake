# cmake -DFILE=F -DNAME=N -DOUTPUT=O -P hex_of_file.cmake: O says what is in F, two digits a byte, as N.
include(${CMAKE_CURRENT_LIST_DIR}/igloo_literal.cmake)
file(READ ${FILE} digits HEX)
igloo_literal(literal "${digits}")
file(WRITE ${OUTPUT} "// Generated from ${FILE}.\nconstexpr std::string_view ${NAME} =\n${literal};\n")
